import protobuf from 'protobufjs'

// The messages of opentelemetry/proto that tests read, with their public field numbers. The fields `future*` stand for
// fields of later versions; there is one of every wire type.
const FUTURE =
  'uint64 future1 = 900; fixed64 future2 = 901; string future3 = 902; fixed32 future4 = 903; Future future5 = 904;'
const SOURCE = `
syntax = "proto3";
message Future { string a = 1; repeated Future b = 2; }
message AnyValue {
  oneof value {
    string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4;
    ArrayValue array_value = 5; KeyValueList kvlist_value = 6; bytes bytes_value = 7;
  }
}
message ArrayValue { repeated AnyValue values = 1; }
message KeyValueList { repeated KeyValue values = 1; }
message KeyValue { string key = 1; AnyValue value = 2; FUTURE }
message InstrumentationScope { string name = 1; string version = 2; repeated KeyValue attributes = 3; FUTURE }
message Resource { repeated KeyValue attributes = 1; uint32 dropped_attributes_count = 2; FUTURE }
message Event {
  fixed64 time_unix_nano = 1; string name = 2; repeated KeyValue attributes = 3;
  uint32 dropped_attributes_count = 4; FUTURE
}
message Link { bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; repeated KeyValue attributes = 4; FUTURE }
message Status { string message = 2; int32 code = 3; FUTURE }
message Span {
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; fixed32 flags = 16;
  string name = 5; int32 kind = 6; fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
  repeated KeyValue attributes = 9; uint32 dropped_attributes_count = 10; repeated Event events = 11;
  uint32 dropped_events_count = 12; repeated Link links = 13; uint32 dropped_links_count = 14; Status status = 15; FUTURE
}
message ScopeSpans { InstrumentationScope scope = 1; repeated Span spans = 2; string schema_url = 3; FUTURE }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; string schema_url = 3; FUTURE }
message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; FUTURE }
message LogRecord {
  fixed64 time_unix_nano = 1; fixed64 observed_time_unix_nano = 11; int32 severity_number = 2;
  string severity_text = 3; AnyValue body = 5; repeated KeyValue attributes = 6; uint32 dropped_attributes_count = 7;
  fixed32 flags = 8; bytes trace_id = 9; bytes span_id = 10; string event_name = 12; FUTURE
}
message ScopeLogs { InstrumentationScope scope = 1; repeated LogRecord log_records = 2; FUTURE }
message ResourceLogs { Resource resource = 1; repeated ScopeLogs scope_logs = 2; FUTURE }
message ExportLogsServiceRequest { repeated ResourceLogs resource_logs = 1; FUTURE }
message ExportTracePartialSuccess { int64 rejected_spans = 1; string error_message = 2; }
message ExportTraceServiceResponse { ExportTracePartialSuccess partial_success = 1; }
message Any { string type_url = 1; bytes value = 2; }
message RpcStatus { int32 code = 1; string message = 2; repeated Any details = 3; }
message Duration { int64 seconds = 1; int32 nanos = 2; }
message RetryInfo { Duration retry_delay = 1; }
`

const { root } = protobuf.parse(SOURCE.replaceAll(/FUTURE(?=\s*})/g, FUTURE))

/** A message type of another implementation of protobuf, for conversion from and to bytes. */
export function protoType(name: string): {
  encode(value: object): Buffer
  /** The message in protobuf's JSON mapping: int64 as strings, bytes as base64. */
  decode(bytes: Uint8Array): Record<string, unknown>
} {
  const type = root.lookupType(name)
  return {
    encode: (value) => Buffer.from(type.encode(type.fromObject(value)).finish()),
    decode: (bytes) => type.toObject(type.decode(bytes), { longs: String, bytes: String, json: true }),
  }
}
