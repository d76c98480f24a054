"""A Python application with OpenTelemetry: it sends one trace of calls of a fake OpenAI, with its log records.

Arguments: the instrumentation (openinference, openllmetry or contrib), the server's URL, its key, the fake OpenAI's URL, and the
server's URL for OTLP over gRPC where that is to be used. Prints the id of the trace. What anything logs or warns of goes to stderr, where the test wants nothing.
"""

import logging
import sys

from openai import OpenAI
from opentelemetry import trace
from opentelemetry._logs import set_logger_provider
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpanExporter
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

logging.basicConfig(level=logging.WARNING)
instrumentation, url, key, vendor, *grpc = sys.argv[1:]

RESOURCE = Resource.create({"service.name": "python-app"})
HEADERS = {"x-api-key": key, "Langsmith-Project": "python-otel"}
MODEL = "gpt-4.1-mini"
HELLO = [
    {"role": "system", "content": "You are a helpful assistant."},
    {"role": "user", "content": "Hi there"},
]
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": PARAMETERS}}]
ASKED = {"role": "user", "content": "Weather in Paris?"}

traces = TracerProvider(resource=RESOURCE)
if grpc:
    # gRPC requires names of metadata in lower case.
    metadata = {name.lower(): value for name, value in HEADERS.items()}
    span_exporter = GrpcSpanExporter(endpoint=grpc[0], insecure=True, headers=metadata)
else:
    span_exporter = OTLPSpanExporter(endpoint=f"{url}/v1/traces", headers=HEADERS)
traces.add_span_processor(BatchSpanProcessor(span_exporter))
trace.set_tracer_provider(traces)
logs = LoggerProvider(resource=RESOURCE)
logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter(endpoint=f"{url}/v1/logs", headers=HEADERS)))
set_logger_provider(logs)

if instrumentation == "openinference":
    from openinference.instrumentation.openai import OpenAIInstrumentor
elif instrumentation == "openllmetry":
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor
else:
    from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
OpenAIInstrumentor().instrument(tracer_provider=traces)

openai = OpenAI(api_key="none", base_url=f"{vendor}/v1", max_retries=0)
create = openai.chat.completions.create

with traces.get_tracer("app").start_as_current_span("app") as root:
    create(model=MODEL, messages=HELLO)
    for _ in create(model=MODEL, messages=HELLO, stream=True, stream_options={"include_usage": True}):
        pass
    answer = create(model=MODEL, messages=[ASKED], tools=TOOLS).choices[0].message
    result = {"role": "tool", "tool_call_id": answer.tool_calls[0].id, "content": "18 degrees, sunny"}
    create(model=MODEL, messages=[ASKED, answer.model_dump(exclude_none=True), result], tools=TOOLS)
    try:
        create(model="gpt-broken", messages=HELLO)
    except Exception as error:
        assert "this model is broken" in str(error), error

traces.shutdown()
logs.shutdown()
print(trace.format_trace_id(root.get_span_context().trace_id))
