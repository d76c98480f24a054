/** A client that keeps cookies and goes where it is sent, as a browser does. */
export interface HttpBrowser {
  /** Cookies by host and path, then by name. */
  cookies: Map<string, Map<string, string>>
  /** Sends one request with the cookies of its address, and keeps those of the answer. */
  fetch(url: string, init?: RequestInit): Promise<Response>
  /** Follows redirects until `stop` is true for an address, or there is none any more; returns the last address. */
  follow(url: string, stop?: (url: URL) => boolean): Promise<{ url: URL; response: Response | undefined }>
}

const MAX_REDIRECTS = 20

export function createHttpBrowser(): HttpBrowser {
  const cookies: HttpBrowser['cookies'] = new Map()
  const cookiesFor = ({ host, pathname }: URL): string =>
    [...cookies]
      .filter(([place]) => `${host}${pathname}`.startsWith(place))
      .flatMap(([, named]) => [...named].map(([name, value]) => `${name}=${value}`))
      .join('; ')
  const keep = ({ host }: URL, line: string): void => {
    const [pair = '', ...attributes] = line.split(';').map((one) => one.trim())
    const path = attributes.find((one) => /^path=/i.test(one))?.slice(5) ?? '/'
    const place = `${host}${path}`
    const [name = '', value = ''] = pair.split(/=(.*)/s)
    const named = cookies.get(place) ?? new Map<string, string>()
    cookies.set(place, named)
    if (attributes.some((one) => /^max-age=0$/i.test(one)) || value === '') named.delete(name)
    else named.set(name, value)
  }
  const send: HttpBrowser['fetch'] = async (address, init = {}) => {
    const url = new URL(address)
    const headers = new Headers(init.headers)
    const cookie = cookiesFor(url)
    if (cookie !== '') headers.set('cookie', cookie)
    const response = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) keep(url, line)
    return response
  }
  return {
    cookies,
    fetch: send,
    async follow(address, stop = () => false) {
      let url = new URL(address)
      for (let i = 0; i < MAX_REDIRECTS; i++) {
        if (stop(url)) return { url, response: undefined }
        const response = await send(url.href)
        const location = response.headers.get('location')
        if (location === null) return { url, response }
        await response.body?.cancel()
        url = new URL(location, url)
      }
      throw new Error(`More than ${MAX_REDIRECTS} redirects, the last to ${url.href}`)
    },
  }
}
