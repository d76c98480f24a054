import { ingestLogKills } from './ingest-log-kills.ts'

ingestLogKills(5)
