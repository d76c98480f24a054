import { describe } from 'vitest'
import { describeStoreFaults, MAIN_STORE_FAULT } from '../../support/faults/stores/store-faults.ts'

describe('faults of the store', () => describeStoreFaults(MAIN_STORE_FAULT))
