"""Sends the span of a model call with each of OpenTelemetry's exporters. Prints the ids of the traces."""

import json
import os

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

headers = {"x-api-key": os.environ["KEY"], "langsmith-project": os.environ["PROJECT"]}
traces = []
for exporter in (
    HttpExporter(endpoint=os.environ["HTTP_URL"], headers=headers),
    GrpcExporter(endpoint=os.environ["GRPC_URL"], headers=tuple(headers.items()), insecure=True),
):
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with provider.get_tracer("field").start_as_current_span("chat gpt-4o") as span:
        span.set_attribute("gen_ai.operation.name", "chat")
        span.set_attribute("gen_ai.request.model", "gpt-4o")
        span.set_attribute("gen_ai.usage.input_tokens", 11)
        span.set_attribute("gen_ai.usage.output_tokens", 7)
    traces.append(format(span.get_span_context().trace_id, "032x"))
    provider.shutdown()
print(json.dumps(traces))
