/** Entry of the process that plays ClickHouse with two shards: see start-two-shards.ts. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type Engine, openEngine } from '../../../../../src/storage/clickhouse/embedded/engine.ts'
import {
  DEFAULT_MEMORY,
  engineConfigXml,
} from '../../../../../src/storage/clickhouse/embedded/engine-config.ts'
import { createEngineServer } from '../../../../../src/storage/clickhouse/embedded/http-server.ts'
import type { QueryContext } from '../../../../../src/storage/clickhouse/embedded/session-state.ts'
import { SHARDED_BY, shardTable } from '../../../../../src/storage/clickhouse/cluster/shards.ts'
import { TWO_SHARDS } from './two-shards.ts'

const ON_CLUSTER = new RegExp(` ON CLUSTER \`${TWO_SHARDS.cluster}\``, 'g')
const REPLICATED = /\bReplicated(\w*MergeTree)\('[^']*', '\{replica\}'(?:, )?/g
/** The engine takes a replica for itself, and needs no connection to it, if it is at this port. */
const PORT = 9000
const SHARD = `<shard><internal_replication>true</internal_replication>
  <replica><host>127.0.0.1</host><port>${PORT}</port></replica></shard>`
const CLUSTER = `<tcp_port>${PORT}</tcp_port>
  <remote_servers><${TWO_SHARDS.cluster}>${SHARD}${SHARD}</${TWO_SHARDS.cluster}></remote_servers>`

/**
 * Both shards have the same tables. A read of one of them finds the rows that an insert would have sent there: `shardNum()`
 * is its number, and 0 in everything that is not a part of a distributed read.
 */
const SPLIT = [
  ...Object.entries(SHARDED_BY).map(([table, key]) => [
    shardTable(table),
    `shardNum() IN (0, 1 + ${key} % 2)`,
  ]),
  ...['parts', 'mutations'].map((table) => [`system.${table}`, 'shardNum() IN (0, 1)']),
]
const FILTERS = `{${SPLIT.map(([table, filter]) => `'${table}':'${filter}'`).join(',')}}`

function split(context: QueryContext): QueryContext {
  return { ...context, settings: new Map([...context.settings, ['additional_table_filters', FILTERS]]) }
}

function withShards(engine: Engine): Engine {
  return {
    ...engine,
    read: (statement, context, ...rest) => engine.read(statement, split(context), ...rest),
    change(sql, context) {
      const own = sql.replace(ON_CLUSTER, '').replace(REPLICATED, '$1(')
      return engine.change(own, sql.startsWith('INSERT') ? split(context) : context)
    },
  }
}

const [path = '', password = ''] = process.argv.slice(2)
const config = engineConfigXml(DEFAULT_MEMORY).replace('<clickhouse>', `<clickhouse>${CLUSTER}`)
const engine = withShards(await openEngine(path, process.cwd(), DEFAULT_MEMORY, config))
const server = createEngineServer({ engine, password, workDir: process.cwd() })
await once(server.listen(0, '127.0.0.1'), 'listening')
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.send?.((server.address() as AddressInfo).port)
