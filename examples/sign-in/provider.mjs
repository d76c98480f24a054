// A provider of OpenID Connect on this machine, to try the sign-in (docs/operating/sign-in.md): everybody signs in with
// a name and any password.
import { Provider } from 'oidc-provider'

const { WEIR_URL = 'http://127.0.0.1:1984', PORT = '9000' } = process.env
const issuer = `http://localhost:${PORT}`
/** The groups of the people. */
const GROUPS = { ada: ['platform'], bob: ['ml-team'], eve: [] }

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'weir',
      client_secret: 'only-to-try-it-out',
      redirect_uris: [`${WEIR_URL}/api/v1/oauth/custom-oidc/callback`],
      post_logout_redirect_uris: [`${WEIR_URL}/app/`],
    },
  ],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
  // The claims are in the id token, too.
  conformIdTokenClaims: false,
  cookies: { keys: ['only to try it out'] },
  findAccount: async (_context, sub) => ({
    accountId: sub,
    claims: async () => ({
      sub,
      name: sub,
      email: `${sub}@acme.test`,
      email_verified: true,
      groups: GROUPS[sub] ?? [],
    }),
  }),
})
provider.listen(Number(PORT), 'localhost', () => console.log(`OAUTH_ISSUER_URL=${issuer}`))
