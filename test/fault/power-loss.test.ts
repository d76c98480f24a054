import { describePowerLoss } from '../support/faults/power-loss.ts'

describePowerLoss(['full'])
