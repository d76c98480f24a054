import type { ModelPrice } from '../../api/platform.gen.ts'

/** A price of the workspace's own. Costs are dollars per token. */
export type OwnPrice = ModelPrice
