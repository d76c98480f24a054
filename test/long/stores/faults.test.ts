import { describe } from 'vitest'
import { describeStoreFaults, MORE_STORE_FAULTS } from '../../support/faults/stores/store-faults.ts'

describe('more faults of the store', () => describeStoreFaults(MORE_STORE_FAULTS))
