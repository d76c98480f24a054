import { type HeadChecks, isText, isTexts, listWith, maybe } from '../pool/heads.ts'

/** First message to the process of a deployment's custom HTTP app. */
export interface OpenApp {
  type: 'open'
  /** Absolute path of the module. */
  file: string
  /** Name of a Python module; null for a file. */
  module: string | null
  export: string
  /** Socket that the app listens on. */
  listen: string
  /** Socket for requests that the app passes on to the routes of Weir. */
  core: string
  /** Socket for requests of the app to its own deployment. */
  inner: string
  report_files: boolean
}

export type ToHttpApp =
  | OpenApp
  /** Ends the process. An ASGI app is shut down before that. */
  | { type: 'stop' }

/** A route or middleware of the app. `method` is `ALL` if it accepts every method; `path` is a pattern of Hono. */
export interface AppRoute {
  method: string
  path: string
}

export type FromHttpApp =
  /**
   * `routes` is null for an app that is only a `fetch` handler. Such an app gets the requests that match no route of
   * Weir.
   */
  | { type: 'opened'; routes: AppRoute[] | null }
  | { type: 'failed'; message: string }
  /** Absolute paths of modules outside of packages that the app loaded or failed to find. */
  | { type: 'loaded'; files: string[] }

export const FROM_HTTP_APP_HEADS: HeadChecks = {
  opened: { routes: maybe(listWith({ method: isText, path: isText })) },
  failed: { message: isText },
  loaded: { files: isTexts },
}
