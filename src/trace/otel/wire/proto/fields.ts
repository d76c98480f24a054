import { WIRE } from './reader.ts'

/**
 * The fields of OTLP messages that Weir reads or writes, each as its tag: `number << 3 | wire type`. Numbers and types
 * are those of https://github.com/open-telemetry/opentelemetry-proto (collector/trace/v1, collector/logs/v1, trace/v1,
 * logs/v1, common/v1, resource/v1); the messages around records have the same numbers in traces and logs.
 */
const bytes = (number: number): number => (number << 3) | WIRE.bytes
const varint = (number: number): number => (number << 3) | WIRE.varint
const fixed64 = (number: number): number => (number << 3) | WIRE.fixed64

/** ExportTraceServiceRequest and ExportLogsServiceRequest: `resource_spans` or `resource_logs`. */
export const REQUEST = { resource_group: bytes(1) }

/** ResourceSpans and ResourceLogs. */
export const RESOURCE_GROUP = { resource: bytes(1), scope_group: bytes(2) }

/** ScopeSpans and ScopeLogs: `record` is a Span or a LogRecord. */
export const SCOPE_GROUP = { scope: bytes(1), record: bytes(2) }

export const SCOPE = { name: bytes(1), version: bytes(2) }

/** Resource and KeyValueList: both contain only KeyValues. */
export const KEY_VALUE_LIST = { key_value: bytes(1) }

export const KEY_VALUE = { key: bytes(1), value: bytes(2) }

export const ANY_VALUE = {
  string: bytes(1),
  bool: varint(2),
  int: varint(3),
  double: fixed64(4),
  array: bytes(5),
  key_value_list: bytes(6),
  bytes: bytes(7),
}

export const ARRAY_VALUE = { value: bytes(1) }

export const SPAN = {
  trace_id: bytes(1),
  span_id: bytes(2),
  trace_state: bytes(3),
  parent_span_id: bytes(4),
  name: bytes(5),
  kind: varint(6),
  start_time: fixed64(7),
  end_time: fixed64(8),
  attribute: bytes(9),
  event: bytes(11),
  link: bytes(13),
  status: bytes(15),
}

export const EVENT = { time: fixed64(1), name: bytes(2), attribute: bytes(3) }

export const LINK = { trace_id: bytes(1), span_id: bytes(2), attribute: bytes(4) }

export const STATUS = { message: bytes(2), code: varint(3) }

export const LOG_RECORD = {
  time: fixed64(1),
  body: bytes(5),
  attribute: bytes(6),
  trace_id: bytes(9),
  span_id: bytes(10),
  observed_time: fixed64(11),
  event_name: bytes(12),
}

/** For ProtoReader.skip: the field numbers of these tags as bits. A known field with another wire type is a fault. */
export function knownFields(fields: Readonly<Record<string, number>>): number {
  return Object.values(fields).reduce((bits, tag) => bits | (1 << (tag >>> 3)), 0)
}

// Field numbers of messages that several readers of spans use. Some messages are read in two passes, and each
// pass skips the fields of the other.
export const REQUEST_FIELDS = knownFields(REQUEST)
export const SCOPE_GROUPS_ONLY = knownFields({ scope_group: RESOURCE_GROUP.scope_group })
export const RECORDS_ONLY = knownFields({ record: SCOPE_GROUP.record })
export const KEY_VALUE_LIST_FIELDS = knownFields(KEY_VALUE_LIST)
export const KEY_VALUE_FIELDS = knownFields(KEY_VALUE)
export const ANY_VALUE_FIELDS = knownFields(ANY_VALUE)
export const ARRAY_VALUE_FIELDS = knownFields(ARRAY_VALUE)
export const SPAN_FIELDS = knownFields(SPAN)
export const EVENT_FIELDS = knownFields(EVENT)
export const LINK_FIELDS = knownFields(LINK)
