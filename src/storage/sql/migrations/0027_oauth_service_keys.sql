-- The service key whose session gave the consent, and with which its tokens end; null for a consent of a member.
ALTER TABLE oauth_tokens ADD COLUMN made_with TEXT;

CREATE INDEX oauth_tokens_made_with ON oauth_tokens (made_with);
