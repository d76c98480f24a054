"""Applications that trace themselves. Each uses one unmodified instrumentation, set up as in its documentation.

Argument: the name of an application, which is a function below. The environment has WEIR_URL, WEIR_KEY, PROJECT and
VENDOR_URL. Each makes a plain call, a streamed one, one that uses a tool, one with the tool's result, and one for a
model that is refused, as far as it supports them. It prints the versions of its packages.
"""

import asyncio
import os
import sys
from importlib.metadata import version

URL, KEY = os.environ["WEIR_URL"], os.environ["WEIR_KEY"]
PROJECT, VENDOR = os.environ["PROJECT"], os.environ["VENDOR_URL"]
HEADERS = {"x-api-key": KEY, "langsmith-project": PROJECT}
GPT, CLAUDE, GEMINI, LLAMA, BROKEN = "gpt-4.1-mini", "claude-sonnet-4-5", "gemini-2.5-flash", "llama3.2", "gpt-broken"
SYSTEM, HELLO, WEATHER = "You are a helpful assistant.", "Hi there", "Weather in Paris?"
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FUNCTION = {"name": "get_weather", "description": "The weather of a city.", "parameters": PARAMETERS}
RESULT = "18 degrees, sunny"

os.environ |= {"OPENAI_API_KEY": "none", "ANTHROPIC_API_KEY": "none", "OPENAI_BASE_URL": f"{VENDOR}/v1"}
# Without this, litellm loads a list of prices from the internet.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
# These are for clients that read the standard variables.
os.environ |= {
    "OTEL_EXPORTER_OTLP_ENDPOINT": URL,
    "OTEL_EXPORTER_OTLP_HEADERS": f"x-api-key={KEY},langsmith-project={PROJECT}",
    "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
}


def otel():
    """A tracer provider, and a logger provider, that send to the server; both are the global ones. A span of the application is open."""
    from opentelemetry import context, trace
    from opentelemetry._logs import set_logger_provider
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider()
    exporter = OTLPSpanExporter(endpoint=f"{URL}/v1/traces", headers=HEADERS)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    logs = LoggerProvider()
    logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter(endpoint=f"{URL}/v1/logs", headers=HEADERS)))
    set_logger_provider(logs)
    app.append(provider.get_tracer("app").start_span("app"))
    context.attach(trace.set_span_in_context(app[0]))
    return provider


app = []


def finish(provider):
    """Ends the application's span, and sends all data."""
    from opentelemetry._logs import get_logger_provider

    app[0].end()
    provider.shutdown()
    get_logger_provider().shutdown()


def refused(call):
    """Makes a call that the vendor refuses."""
    try:
        call()
    except Exception as error:
        if "broken" not in str(error):
            raise


def chats(client):
    """Makes every kind of call of OpenAI's chat completions."""
    create = client.chat.completions.create
    hello = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": HELLO}]
    create(model=GPT, messages=hello)
    for _ in create(model=GPT, messages=hello, stream=True, stream_options={"include_usage": True}):
        pass
    tools = [{"type": "function", "function": FUNCTION}]
    asked = {"role": "user", "content": WEATHER}
    answer = create(model=GPT, messages=[asked], tools=tools).choices[0].message
    result = {"role": "tool", "tool_call_id": answer.tool_calls[0].id, "content": RESULT}
    create(model=GPT, messages=[asked, answer.model_dump(exclude_none=True), result], tools=tools)
    refused(lambda: create(model=BROKEN, messages=hello))


def responses(client):
    """Makes the same calls with OpenAI's Responses API."""
    create = client.responses.create
    create(model=GPT, instructions=SYSTEM, input=HELLO)
    for _ in create(model=GPT, input=HELLO, stream=True):
        pass
    tools = [{"type": "function", "strict": False, **FUNCTION}]
    asked = {"role": "user", "content": WEATHER}
    call = create(model=GPT, input=[asked], tools=tools).output[0]
    result = {"type": "function_call_output", "call_id": call.call_id, "output": RESULT}
    create(model=GPT, input=[asked, call.model_dump(exclude_none=True), result], tools=tools)
    refused(lambda: create(model=BROKEN, input=HELLO))


def claude(client):
    """Makes the same calls with Anthropic's messages."""
    create = client.messages.create
    hello = {"max_tokens": 100, "system": SYSTEM, "messages": [{"role": "user", "content": HELLO}]}
    create(model=CLAUDE, **hello)
    for _ in create(model=CLAUDE, stream=True, **hello):
        pass
    tools = [{"name": "get_weather", "description": FUNCTION["description"], "input_schema": PARAMETERS}]
    asked = {"role": "user", "content": WEATHER}
    answer = create(model=CLAUDE, max_tokens=100, messages=[asked], tools=tools)
    result = {"type": "tool_result", "tool_use_id": answer.content[0].id, "content": RESULT}
    used = [block.model_dump(exclude_none=True) for block in answer.content]
    messages = [asked, {"role": "assistant", "content": used}, {"role": "user", "content": [result]}]
    create(model=CLAUDE, max_tokens=100, messages=messages, tools=tools)
    refused(lambda: create(model="claude-broken", **hello))


def openai_client():
    from openai import OpenAI

    return OpenAI(max_retries=0)


def anthropic_client():
    from anthropic import Anthropic

    return Anthropic(base_url=VENDOR, max_retries=0)


def get_weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: Its name.
    """
    return RESULT


def openllmetry_openai():
    provider = otel()
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument(tracer_provider=provider)
    chats(openai_client())
    finish(provider)
    return "opentelemetry-instrumentation-openai", "openai"


def openllmetry_openai_responses():
    provider = otel()
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument(tracer_provider=provider)
    responses(openai_client())
    finish(provider)
    return "opentelemetry-instrumentation-openai", "openai"


def openllmetry_anthropic():
    provider = otel()
    from opentelemetry.instrumentation.anthropic import AnthropicInstrumentor

    AnthropicInstrumentor().instrument(tracer_provider=provider)
    claude(anthropic_client())
    finish(provider)
    return "opentelemetry-instrumentation-anthropic", "anthropic"


def openinference_openai():
    provider = otel()
    from openinference.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument(tracer_provider=provider)
    chats(openai_client())
    finish(provider)
    return "openinference-instrumentation-openai", "openai"


def openinference_openai_responses():
    provider = otel()
    from openinference.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument(tracer_provider=provider)
    responses(openai_client())
    finish(provider)
    return "openinference-instrumentation-openai", "openai"


def openinference_anthropic():
    provider = otel()
    from openinference.instrumentation.anthropic import AnthropicInstrumentor

    AnthropicInstrumentor().instrument(tracer_provider=provider)
    claude(anthropic_client())
    finish(provider)
    return "openinference-instrumentation-anthropic", "anthropic"


def langchain_calls():
    from langchain_core.messages import HumanMessage, ToolMessage
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model=GPT, max_retries=0, stream_usage=True)
    model.invoke([("system", SYSTEM), ("user", HELLO)])
    for _ in model.stream([("user", HELLO)]):
        pass
    bound = model.bind_tools([{"type": "function", "function": FUNCTION}])
    answer = bound.invoke([HumanMessage(WEATHER)])
    result = ToolMessage(RESULT, tool_call_id=answer.tool_calls[0]["id"])
    bound.invoke([HumanMessage(WEATHER), answer, result])
    refused(lambda: ChatOpenAI(model=BROKEN, max_retries=0).invoke(HELLO))


def openinference_langchain():
    provider = otel()
    from openinference.instrumentation.langchain import LangChainInstrumentor

    LangChainInstrumentor().instrument(tracer_provider=provider)
    langchain_calls()
    finish(provider)
    return "openinference-instrumentation-langchain", "langchain-openai"


def langsmith_environment(**more):
    os.environ |= {"LANGSMITH_ENDPOINT": URL, "LANGSMITH_API_KEY": KEY, "LANGSMITH_PROJECT": PROJECT}
    os.environ |= {"LANGSMITH_TRACING": "true", **more}


def langsmith_langchain():
    langsmith_environment()
    langchain_calls()
    from langchain_core.tracers.langchain import wait_for_all_tracers

    wait_for_all_tracers()
    return "langsmith", "langchain-openai"


def langsmith_openai():
    langsmith_environment()
    from langsmith import Client
    from langsmith.wrappers import wrap_openai

    client = Client()
    chats(wrap_openai(openai_client(), tracing_extra={"client": client}))
    client.flush()
    return "langsmith", "openai"


def langsmith_hybrid():
    langsmith_environment(LANGSMITH_OTEL_ENABLED="true", LANGSMITH_OTEL_ONLY="true")
    from langsmith import Client
    from langsmith.wrappers import wrap_openai

    client = Client()
    chats(wrap_openai(openai_client(), tracing_extra={"client": client}))
    client.flush()
    from opentelemetry import trace

    trace.get_tracer_provider().force_flush()
    return "langsmith", "openai"


def contrib_openai():
    os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "span_only"
    os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
    provider = otel()
    from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor

    OpenAIInstrumentor().instrument(tracer_provider=provider)
    chats(openai_client())
    finish(provider)
    return "opentelemetry-instrumentation-openai-v2", "openai"


def mlflow_openai():
    os.environ["DO_NOT_TRACK"] = "true"
    import mlflow
    from mlflow import openai

    openai.autolog()
    with mlflow.start_span("app"):
        chats(openai_client())
    mlflow.flush_trace_async_logging()
    return "mlflow-skinny", "openai"


def gemini(**options):
    """Gemini, traced by OpenInference."""
    provider = otel()
    from google import genai
    from google.genai import types
    from openinference.instrumentation.google_genai import GoogleGenAIInstrumentor

    GoogleGenAIInstrumentor().instrument(tracer_provider=provider)
    client = genai.Client(http_options=types.HttpOptions(base_url=VENDOR), **options)
    generate, stream = client.models.generate_content, client.models.generate_content_stream
    generate(model=GEMINI, contents=HELLO, config=types.GenerateContentConfig(system_instruction=SYSTEM))
    for _ in stream(model=GEMINI, contents=HELLO):
        pass
    tool = types.Tool(function_declarations=[types.FunctionDeclaration(**FUNCTION)])
    config = types.GenerateContentConfig(tools=[tool])
    asked = types.Content(role="user", parts=[types.Part(text=WEATHER)])
    answer = generate(model=GEMINI, contents=[asked], config=config)
    result = types.Part.from_function_response(name="get_weather", response={"result": RESULT})
    said = answer.candidates[0].content
    generate(model=GEMINI, contents=[asked, said, types.Content(role="user", parts=[result])], config=config)
    refused(lambda: generate(model="gemini-broken", contents=HELLO))
    finish(provider)
    return "openinference-instrumentation-google-genai", "google-genai"


def openinference_google():
    return gemini(api_key="none")


def openinference_vertex():
    from google.oauth2.credentials import Credentials

    return gemini(vertexai=True, project="app", location="europe-west4", credentials=Credentials("none"))


def openllmetry_ollama():
    provider = otel()
    from opentelemetry.instrumentation.ollama import OllamaInstrumentor

    OllamaInstrumentor().instrument(tracer_provider=provider)
    from ollama import Client

    client = Client(host=VENDOR)
    asked = {"role": "user", "content": WEATHER}
    tools = [{"type": "function", "function": FUNCTION}]
    client.chat(model=LLAMA, messages=[{"role": "user", "content": HELLO}])
    for _ in client.chat(model=LLAMA, messages=[{"role": "user", "content": HELLO}], stream=True):
        pass
    answer = client.chat(model=LLAMA, messages=[asked], tools=tools).message
    result = {"role": "tool", "tool_name": "get_weather", "content": RESULT}
    client.chat(model=LLAMA, messages=[asked, answer, result], tools=tools)
    finish(provider)
    return "opentelemetry-instrumentation-ollama", "ollama"


def logfire_sends():
    """Logfire, set up for another back end as in its documentation."""
    import logfire

    logfire.configure(send_to_logfire=False, console=False)
    return logfire


def logfire_openai():
    logfire = logfire_sends()
    client = openai_client()
    logfire.instrument_openai(client)
    with logfire.span("app"):
        chats(client)
    logfire.shutdown()
    return "logfire", "openai"


def logfire_anthropic():
    logfire = logfire_sends()
    client = anthropic_client()
    logfire.instrument_anthropic(client)
    with logfire.span("app"):
        claude(client)
    logfire.shutdown()
    return "logfire", "anthropic"


def pydantic_ai():
    logfire = logfire_sends()
    from pydantic_ai import Agent

    logfire.instrument_pydantic_ai()
    from pydantic_ai.models.openai import OpenAIChatModel

    agent = Agent(OpenAIChatModel(GPT), instructions=SYSTEM)
    agent.run_sync(HELLO)

    async def stream():
        async with agent.run_stream(HELLO) as result:
            await result.get_output()

    asyncio.run(stream())
    Agent(OpenAIChatModel(GPT), tools=[get_weather]).run_sync(WEATHER)
    refused(lambda: Agent(OpenAIChatModel(BROKEN)).run_sync(HELLO))
    logfire.shutdown()
    return "pydantic-ai-slim", "logfire"


def langfuse_openai():
    os.environ |= {"LANGFUSE_HOST": URL, "LANGFUSE_BASE_URL": URL}
    os.environ |= {"LANGFUSE_PUBLIC_KEY": "pk-lf-any", "LANGFUSE_SECRET_KEY": KEY}
    from langfuse import get_client
    from langfuse.openai import OpenAI

    client = get_client()
    with client.start_as_current_observation(name="app", as_type="span") as span:
        chats(OpenAI(max_retries=0))
        trace_id = span.trace_id
    client.flush()
    print("trace", trace_id, file=sys.stderr)
    return "langfuse", "openai"


def openai_agents():
    provider = otel()
    from agents import Agent, OpenAIResponsesModel, Runner, function_tool
    from openai import AsyncOpenAI
    from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

    OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)
    model = OpenAIResponsesModel(GPT, AsyncOpenAI(max_retries=0))

    async def run():
        await Runner.run(Agent(name="hello", instructions=SYSTEM, model=model), HELLO)
        async for _ in Runner.run_streamed(Agent(name="streams", model=model), HELLO).stream_events():
            pass
        await Runner.run(Agent(name="weather", model=model, tools=[function_tool(get_weather)]), WEATHER)
        broken = OpenAIResponsesModel(BROKEN, AsyncOpenAI(max_retries=0))
        try:
            await Runner.run(Agent(name="broken", model=broken), HELLO)
        except Exception as error:
            assert "broken" in str(error), error

    asyncio.run(run())
    finish(provider)
    return "openai-agents", "openinference-instrumentation-openai-agents"


def haystack_calls():
    from haystack import Pipeline
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.dataclasses import ChatMessage
    from haystack.tools import Tool

    def run(messages, **options):
        pipeline = Pipeline()
        pipeline.add_component("llm", OpenAIChatGenerator(max_retries=0, **options))
        return pipeline.run({"llm": {"messages": messages}})["llm"]["replies"][0]

    hello = [ChatMessage.from_system(SYSTEM), ChatMessage.from_user(HELLO)]
    run(hello, model=GPT)
    usage = {"stream_options": {"include_usage": True}}
    run(hello, model=GPT, streaming_callback=lambda _: None, generation_kwargs=usage)
    tool = Tool(name="get_weather", description=FUNCTION["description"], parameters=PARAMETERS, function=get_weather)
    asked = ChatMessage.from_user(WEATHER)
    answer = run([asked], model=GPT, tools=[tool])
    result = ChatMessage.from_tool(RESULT, origin=answer.tool_calls[0])
    run([asked, answer, result], model=GPT, tools=[tool])
    refused(lambda: run(hello, model=BROKEN))


def haystack():
    provider = otel()
    from openinference.instrumentation.haystack import HaystackInstrumentor

    HaystackInstrumentor().instrument(tracer_provider=provider)
    haystack_calls()
    finish(provider)
    return "haystack-ai", "openinference-instrumentation-haystack"


def haystack_own():
    os.environ["HAYSTACK_CONTENT_TRACING_ENABLED"] = "true"
    provider = otel()
    from haystack import tracing
    from haystack_integrations.tracing.opentelemetry import OpenTelemetryTracer

    tracing.enable_tracing(OpenTelemetryTracer(provider.get_tracer("haystack")))
    haystack_calls()
    finish(provider)
    return "haystack-ai", "opentelemetry-haystack"


def agno():
    provider = otel()
    from agno.agent import Agent
    from agno.models.openai import OpenAIChat
    from openinference.instrumentation.agno import AgnoInstrumentor

    AgnoInstrumentor().instrument(tracer_provider=provider)

    def model(name=GPT):
        return OpenAIChat(id=name, base_url=f"{VENDOR}/v1", max_retries=0)

    Agent(model=model(), instructions=SYSTEM, telemetry=False).run(HELLO)
    for _ in Agent(model=model(), telemetry=False).run(HELLO, stream=True):
        pass
    Agent(model=model(), tools=[get_weather], telemetry=False).run(WEATHER)
    refused(lambda: Agent(model=model(BROKEN), telemetry=False).run(HELLO))
    finish(provider)
    return "agno", "openinference-instrumentation-agno"


def smolagents():
    provider = otel()
    from openinference.instrumentation.smolagents import SmolagentsInstrumentor
    from smolagents import OpenAIModel
    from smolagents.tools import tool

    SmolagentsInstrumentor().instrument(tracer_provider=provider)
    model = OpenAIModel(GPT, api_base=f"{VENDOR}/v1", api_key="none", client_kwargs={"max_retries": 0})
    text = [{"type": "text", "text": HELLO}]
    model([{"role": "user", "content": text}])
    for _ in model.generate_stream([{"role": "user", "content": text}]):
        pass
    asked = [{"role": "user", "content": [{"type": "text", "text": WEATHER}]}]
    model(asked, tools_to_call_from=[tool(get_weather)])
    broken = OpenAIModel(BROKEN, api_base=f"{VENDOR}/v1", api_key="none", client_kwargs={"max_retries": 0})
    refused(lambda: broken([{"role": "user", "content": text}]))
    finish(provider)
    return "smolagents", "openinference-instrumentation-smolagents"


def litellm():
    os.environ |= {"OTEL_EXPORTER": "otlp_http", "OTEL_ENDPOINT": f"{URL}/v1/traces"}
    os.environ |= {"OTEL_HEADERS": os.environ["OTEL_EXPORTER_OTLP_HEADERS"]}
    import litellm as lite

    lite.callbacks = ["otel"]

    def create(model, **options):
        return lite.completion(model=f"openai/{model}", api_base=f"{VENDOR}/v1", num_retries=0, max_retries=0, **options)

    hello = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": HELLO}]
    create(GPT, messages=hello)
    for _ in create(GPT, messages=hello, stream=True, stream_options={"include_usage": True}):
        pass
    tools = [{"type": "function", "function": FUNCTION}]
    asked = {"role": "user", "content": WEATHER}
    answer = create(GPT, messages=[asked], tools=tools).choices[0].message
    result = {"role": "tool", "tool_call_id": answer.tool_calls[0].id, "content": RESULT}
    create(GPT, messages=[asked, answer.model_dump(exclude_none=True), result], tools=tools)
    refused(lambda: create(BROKEN, messages=hello))
    import time

    time.sleep(2)
    from opentelemetry import trace

    trace.get_tracer_provider().force_flush()
    return "litellm", "openai"


def strands():
    os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
    from strands import Agent, tool
    from strands.models.openai import OpenAIModel
    from strands.telemetry import StrandsTelemetry

    telemetry = StrandsTelemetry()
    telemetry.setup_otlp_exporter()

    def model(name=GPT):
        return OpenAIModel(client_args={"max_retries": 0}, model_id=name)

    Agent(model=model(), system_prompt=SYSTEM, callback_handler=None)(HELLO)
    Agent(model=model(), tools=[tool(get_weather)], callback_handler=None)(WEATHER)
    refused(lambda: Agent(model=model(BROKEN), callback_handler=None)(HELLO))
    telemetry.tracer_provider.force_flush()
    return "strands-agents", "openai"


def crewai():
    os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false"}
    provider = otel()
    from crewai import LLM, Agent, Crew, Task
    from crewai.tools import tool
    from openinference.instrumentation.crewai import CrewAIInstrumentor
    from openinference.instrumentation.openai import OpenAIInstrumentor

    # CrewAI's instrumentation traces crews and agents; OpenAI's traces the model calls.
    CrewAIInstrumentor().instrument(tracer_provider=provider)
    OpenAIInstrumentor().instrument(tracer_provider=provider)

    def run(question, model=GPT, stream=False, **options):
        address = {"base_url": f"{VENDOR}/v1", "api_key": "none"}
        llm = LLM(model=f"openai/{model}", max_retries=0, stream=stream, **address)
        agent = Agent(role="Assistant", goal="Answer", backstory=SYSTEM, llm=llm, max_retry_limit=0, **options)
        Crew(agents=[agent], tasks=[Task(description=question, expected_output="An answer", agent=agent)]).kickoff()

    run(HELLO)
    run(HELLO, stream=True)
    run(WEATHER, tools=[tool("get_weather")(get_weather)])
    refused(lambda: run(HELLO, model=BROKEN))
    finish(provider)
    return "crewai", "openinference-instrumentation-crewai"


def llama_index():
    provider = otel()
    from llama_index.core.llms import ChatMessage
    from llama_index.core.tools import FunctionTool
    from llama_index.llms.openai import OpenAI
    from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

    LlamaIndexInstrumentor().instrument(tracer_provider=provider)
    model = OpenAI(model=GPT, max_retries=0, api_base=f"{VENDOR}/v1")
    hello = [ChatMessage(role="system", content=SYSTEM), ChatMessage(role="user", content=HELLO)]
    model.chat(hello)
    for _ in model.stream_chat(hello, stream_options={"include_usage": True}):
        pass
    weather = FunctionTool.from_defaults(get_weather)
    answer = model.chat_with_tools([weather], user_msg=WEATHER)
    call = model.get_tool_calls_from_response(answer)[0]
    result = ChatMessage(role="tool", content=RESULT, additional_kwargs={"tool_call_id": call.tool_id})
    history = [ChatMessage(role="user", content=WEATHER), answer.message, result]
    model.chat_with_tools([weather], chat_history=history)
    finish(provider)
    return "llama-index-core", "openinference-instrumentation-llama-index"


def dspy():
    provider = otel()
    import dspy as d
    from openinference.instrumentation.dspy import DSPyInstrumentor

    DSPyInstrumentor().instrument(tracer_provider=provider)
    model = d.LM(f"openai/{GPT}", api_base=f"{VENDOR}/v1", api_key="none", cache=False, num_retries=0)
    model(messages=[{"role": "system", "content": SYSTEM}, {"role": "user", "content": HELLO}])
    broken = d.LM(f"openai/{BROKEN}", api_base=f"{VENDOR}/v1", api_key="none", cache=False, num_retries=0)
    refused(lambda: broken(HELLO))
    finish(provider)
    return "dspy", "openinference-instrumentation-dspy"


packages = globals()[sys.argv[1]]()
print("\n" + ", ".join(f"{name} {version(name)}" for name in packages))
