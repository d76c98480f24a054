import { describePowerLoss } from '../../support/faults/stores/power-loss.ts'

describePowerLoss(['full'])
