import {
  knownFields,
  RECORDS_ONLY,
  REQUEST,
  REQUEST_FIELDS,
  RESOURCE_GROUP,
  SCOPE_GROUP,
  SCOPE_GROUPS_ONLY,
} from './fields.ts'
import type { ProtoReader } from './reader.ts'

/**
 * Reads the levels of a request: resources contain scopes, and scopes contain records. `R` is the value read from a
 * resource, `S` the value read from a scope and its resource.
 */
export interface GroupReader<R, S> {
  /** Called for each resource and each scope. */
  group(): void
  /** Reads the resource of the open ResourceSpans or ResourceLogs. */
  resource(reader: ProtoReader): R
  /** Reads the scope of the open ScopeSpans or ScopeLogs. */
  scope(reader: ProtoReader, resource: R): S
  record(reader: ProtoReader, source: S): void
}

/** Reads an ExportTraceServiceRequest or an ExportLogsServiceRequest. Throws AppError invalid_otlp. */
export function readGroups<R, S>(reader: ProtoReader, levels: GroupReader<R, S>): void {
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === REQUEST.resource_group) readResourceGroup(reader, levels)
    else reader.skip(tag, REQUEST_FIELDS)
  }
}

/** Reads the message of a resource twice, because the resource may be after its scopes. */
function readResourceGroup<R, S>(reader: ProtoReader, levels: GroupReader<R, S>): void {
  levels.group()
  const outer = reader.open()
  const start = reader.at
  const resource = levels.resource(reader)
  reader.at = start
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === RESOURCE_GROUP.scope_group) readScopeGroup(reader, resource, levels)
    else reader.skip(tag, SCOPE_GROUPS_ONLY)
  }
  reader.close(outer)
}

/** Reads the message of a scope twice, because the scope may be after its records. */
function readScopeGroup<R, S>(reader: ProtoReader, resource: R, levels: GroupReader<R, S>): void {
  levels.group()
  const outer = reader.open()
  const start = reader.at
  const source = levels.scope(reader, resource)
  reader.at = start
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === SCOPE_GROUP.record) levels.record(reader, source)
    else reader.skip(tag, RECORDS_ONLY)
  }
  reader.close(outer)
}

/**
 * Calls `read` for each field of the open message that has the tag `wanted`, and skips the others. Returns the bytes of
 * the wanted fields, with their tags.
 */
export function readFields(reader: ProtoReader, wanted: number, read: () => void): Uint8Array {
  const known = knownFields({ wanted })
  const found: Uint8Array[] = []
  for (let from = reader.at, tag = reader.tag(); tag !== 0; from = reader.at, tag = reader.tag()) {
    if (tag === wanted) {
      read()
      found.push(reader.buffer.subarray(from, reader.at))
    } else reader.skip(tag, known)
  }
  return found.length === 1 ? found[0]! : Buffer.concat(found)
}
