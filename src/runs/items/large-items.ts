import type { JsonObject } from '../../schema/json.ts'

/** A text of an item that is embedded, and its path in the item. */
export interface ItemText {
  path: string
  text: string
}

/** Reads large values of items outside of the main thread. */
export interface LargeItems {
  /** The texts at the paths of a JSON value. @throws AppError body_too_large as `itemTexts` */
  texts(json: string, paths: readonly string[]): Promise<ItemText[]>
  /**
   * Whether an auth handler's filter matches the fields of a JSON value. Fields of `others` replace fields with the
   * same name.
   */
  matches(json: string, others: JsonObject, filter: JsonObject): Promise<boolean>
}
