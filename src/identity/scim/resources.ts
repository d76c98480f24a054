import { MAX_COUNT, type ScimFault, type ScimGroup, type ScimUser, URN } from './scim.ts'

interface Meta {
  created_at: number
  updated_at: number
}

function metaOf(resourceType: string, location: string, { created_at, updated_at }: Meta): object {
  const iso = (time: number): string => new Date(time).toISOString()
  return { resourceType, created: iso(created_at), lastModified: iso(updated_at), location }
}

/** A user in SCIM's form; `base` is the address of `/scim/v2`. */
export function userJson(user: ScimUser, base: string): object {
  const { id, user_name, external_id, given_name, family_name, full_name, email, active, groups } = user
  return {
    schemas: [URN.user],
    id,
    userName: user_name,
    ...(external_id !== null && { externalId: external_id }),
    active,
    displayName: full_name ?? user_name,
    name: {
      formatted: full_name ?? user_name,
      ...(given_name !== null && { givenName: given_name }),
      ...(family_name !== null && { familyName: family_name }),
    },
    emails: [{ value: email, type: 'work', primary: true }],
    groups: groups.map((group) => ({
      value: group.id,
      display: group.display_name,
      $ref: `${base}/Groups/${group.id}`,
    })),
    meta: metaOf('User', `${base}/Users/${id}`, user),
  }
}

/** A group in SCIM's form; without its members where the client excludes them. */
export function groupJson(group: ScimGroup, base: string, withMembers = true): object {
  const { id, display_name, external_id, members } = group
  return {
    schemas: [URN.group],
    id,
    displayName: display_name,
    ...(external_id !== null && { externalId: external_id }),
    ...(withMembers && {
      members: members.map((one) => ({
        value: one.id,
        display: one.display,
        type: 'User',
        $ref: `${base}/Users/${one.id}`,
      })),
    }),
    meta: metaOf('Group', `${base}/Groups/${id}`, group),
  }
}

export function listJson(resources: readonly object[], total: number, startIndex: number): object {
  return {
    schemas: [URN.list],
    totalResults: total,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  }
}

export function scimFaultJson({ status, type, message }: ScimFault): object {
  return { schemas: [URN.error], status: String(status), ...(type && { scimType: type }), detail: message }
}

/** What this server can do (RFC 7643, 5). */
export function configJson(base: string): object {
  const no = { supported: false }
  return {
    schemas: [URN.config],
    patch: { supported: true },
    bulk: { ...no, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: MAX_COUNT },
    changePassword: no,
    sort: no,
    etag: no,
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'A token of POST /api/v1/orgs/current/scim-tokens.',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
  }
}

export function resourceTypes(base: string): object[] {
  return (['User', 'Group'] as const).map((name) => ({
    schemas: [URN.resourceType],
    id: name,
    name,
    endpoint: `/${name}s`,
    schema: name === 'User' ? URN.user : URN.group,
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${name}` },
  }))
}

function attribute(name: string, more: object = {}): object {
  return {
    name,
    type: 'string',
    multiValued: false,
    required: false,
    caseExact: false,
    mutability: 'readWrite',
    returned: 'default',
    uniqueness: 'none',
    ...more,
  }
}

/** The attributes that are kept. */
export function schemas(base: string): object[] {
  const value = attribute('value')
  const exact = { caseExact: true }
  const list = (name: string, more: object = {}): object =>
    attribute(name, { type: 'complex', multiValued: true, subAttributes: [value], ...more })
  const unique = { required: true, uniqueness: 'server' }
  const all = [
    {
      id: URN.user,
      name: 'User',
      attributes: [
        attribute('userName', unique),
        attribute('externalId', exact),
        attribute('active', { type: 'boolean' }),
        attribute('displayName'),
        attribute('name', {
          type: 'complex',
          subAttributes: ['formatted', 'givenName', 'familyName'].map((name) => attribute(name)),
        }),
        list('emails'),
        list('groups', { mutability: 'readOnly' }),
      ],
    },
    {
      id: URN.group,
      name: 'Group',
      attributes: [attribute('displayName', unique), attribute('externalId', exact), list('members')],
    },
  ]
  return all.map((one) => ({
    schemas: [URN.schema],
    ...one,
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${one.id}` },
  }))
}
