import { ingestLogKills } from '../../support/faults/kill/ingest-log-kills.ts'

ingestLogKills(5)
