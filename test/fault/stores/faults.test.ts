import { describe } from 'vitest'
import { describeStoreFaults, KINDS_OF_STORE_FAULT } from '../../support/faults/stores/store-faults.ts'

describe('faults of the store', () => describeStoreFaults(KINDS_OF_STORE_FAULT))
