"""The user that a deployment's auth file has authenticated."""

from typing import Any

from ..frames import Head


class User(dict[str, Any]):
    """A user whose fields are items and attributes, as on LangGraph's server (`BaseUser` of langgraph_sdk)."""

    @property
    def identity(self) -> str:
        """The id of the user."""
        return str(self["identity"])

    @property
    def display_name(self) -> str:
        """The displayed name."""
        return str(self["display_name"])

    @property
    def is_authenticated(self) -> bool:
        """Always True."""
        return bool(self["is_authenticated"])

    @property
    def permissions(self) -> list[str]:
        """The permissions that the auth file has returned."""
        return list(self["permissions"])

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def user_of_config(config: Head) -> User | None:
    """The user of a run's config."""
    found = (config.get("configurable") or {}).get("langgraph_auth_user")
    return User(found) if isinstance(found, dict) else None
