import { AUTHORIZATION_FIELDS, type Authorization } from './authorization.ts'

/** Headers of every page: it cannot be framed, runs no script and is not kept. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  // With no-referrer, browsers send the form with the origin null.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
}

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:30rem;margin:12vh auto;padding:0 1rem}
h1{font-size:1.3rem}dt{color:#666;margin-top:.6rem}dd{margin:0;overflow-wrap:anywhere}
button,select{font:inherit;padding:.4rem 1rem;margin:.3rem .5rem .3rem 0}@media(prefers-color-scheme:dark){body{background:#111;color:#eee}dt{color:#999}}`

function page(title: string, body: string, head = ''): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title} - Weir</title>${head}<style>${STYLE}</style></head><body><main><h1>${title}</h1>${body}</main></body></html>`
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`)
}

const READS = 'read what you can read: traces, figures, settings. It cannot change anything.'

function callsOf(deployment: string): string {
  return `see and call the assistants of the deployment ${deployment} as tools, as far as you can. Each call is a run.`
}

/**
 * The page on which a member allows or denies a client (rule OAU-4). It is a plain form to its own address. `workspaces`:
 * those of the member, the preferred one first; `member`: its email, or the short key of a service.
 */
export function consentPage(
  { client, redirect_uri, resource: { scope, deployment } }: Authorization,
  sent: URLSearchParams,
  { workspaces, member }: { workspaces: readonly { id: string; display_name: string }[]; member: string },
): string {
  const hidden = AUTHORIZATION_FIELDS.flatMap((name) => {
    const value = sent.get(name)
    return value === null ? [] : [`<input type="hidden" name="${name}" value="${escaped(value)}">`]
  })
  const options = workspaces.map(
    ({ id, display_name }) => `<option value="${escaped(id)}">${escaped(display_name)}</option>`,
  )
  if (scope === 'login')
    return page(
      'Sign in on the command line?',
      `<form method="post" action="/oauth/authorize">${hidden.join('')}<dl>
<dt>Command</dt><dd><strong>weir login</strong>, on this computer</dd>
<dt>Returns to</dt><dd>${escaped(redirect_uri)}</dd>
<dt>Gets</dt><dd>a personal access token for 90 days, which may do what you may do.</dd>
<dt>As</dt><dd>${escaped(member)}</dd></dl>
<p>Allow it only if you have just started the command yourself.</p>
<button name="decision" value="allow">Allow</button><button name="decision" value="deny">Deny</button></form>`,
    )
  return page(
    deployment === undefined ? 'Let this client read your traces?' : 'Let this client call your graphs?',
    `<form method="post" action="/oauth/authorize">${hidden.join('')}<dl>
<dt>Client (it chose this name itself)</dt><dd><strong>${escaped(client.name)}</strong></dd>
<dt>Returns to</dt><dd>${escaped(redirect_uri)}</dd>
<dt>May</dt><dd>${deployment === undefined ? READS : escaped(callsOf(deployment.name))}</dd>
<dt>As</dt><dd>${escaped(member)}</dd>
<dt><label for="workspace">In the workspace</label></dt><dd><select id="workspace" name="workspace">${options.join('')}</select></dd></dl>
<p>You can end this at any time: delete its key under Settings, API keys.</p>
<button name="decision" value="allow">Allow</button><button name="decision" value="deny">Deny</button></form>`,
  )
}

/**
 * The page for a browser that shows no session. Browsers hold the cookie back when another site opens the page, so the
 * page first opens itself once; then it asks to sign in.
 */
export function signInPage(again: string | undefined): string {
  if (again !== undefined)
    return page(
      'One moment',
      `<p><a href="${escaped(again)}">Go on</a></p>`,
      `<meta http-equiv="refresh" content="0;url=${escaped(again)}">`,
    )
  return page(
    'Sign in first',
    '<p><a href="/app/" target="_blank" rel="noopener">Sign in to Weir</a> in another tab, then load this page again.</p>',
  )
}

export function faultPage(message: string): string {
  return page('This does not work', `<p>${escaped(message)}</p>`)
}
