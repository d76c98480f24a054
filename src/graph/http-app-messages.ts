/** From the server to the process of a deployment's own HTTP app. */
export interface ToHttpApp {
  type: 'open'
  /** Absolute path of the module. */
  file: string
  export: string
  /** Where the app is to listen. */
  listen: string
  /** Where requests go that the app leaves to the routes of Weir. */
  core: string
  /** Where requests go that the app itself makes of the deployment. */
  inner: string
  tell_files: boolean
}

/** A route of the app, or a middleware: `method` is `ALL` for those of every method, `path` a pattern of Hono. */
export interface AppRoute {
  method: string
  path: string
}

/** And back. */
export type FromHttpApp =
  /** Null: a bare `fetch` handler, which gets what no route of Weir takes. */
  | { type: 'opened'; routes: AppRoute[] | null }
  | { type: 'failed'; message: string }
  /** Absolute paths of modules outside of packages that it has loaded, or looked for. */
  | { type: 'loaded'; files: string[] }
