import { ingestLogKills } from '../fault/ingest-log-kills.ts'

ingestLogKills(20)
