import { describe } from 'vitest'
import { describeStoreFaults } from '../../support/faults/stores/store-faults.ts'

describe('faults of the store', describeStoreFaults)
