import { type HeadChecks, isText, isTexts } from '../pool/heads.ts'

/** Message of the server to the process that bundles UI components. */
export interface ToUiHost {
  type: 'open'
  /** The folder of langgraph.json. */
  folder: string
  /** Modules with UI components, by graph; paths relative to the folder. */
  ui: Record<string, string>
  /** Packages that the page provides, in addition to React and the SDK. */
  shared: string[]
  /** Whether to bundle again when files change. */
  watch: boolean
}

/** Messages of the bundling process to the server: one for each bundle of a graph. */
export type FromUiHost =
  /** Parts: contents of the files in the order of `names`. */
  | { type: 'bundled'; graph_id: string; names: string[] }
  | { type: 'failed'; graph_id: string; message: string }

export const FROM_UI_HOST_HEADS: HeadChecks = {
  bundled: { graph_id: isText, names: isTexts },
  failed: { graph_id: isText, message: isText },
}
