//! An application in Rust that traces itself with rig-core's own spans, as rig's and OpenTelemetry's documentation
//! set it up. It reads WEIR_URL, WEIR_KEY, PROJECT and VENDOR_URL from the environment. It makes a plain call, a streamed
//! one, one that uses a tool, one with the tool's result, and one for a model that the vendor refuses.

use std::collections::HashMap;
use std::env::var;
use std::error::Error;

use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::trace::SdkTracerProvider;
use rig_core::completion::{CompletionRequest, Message, ToolDefinition};
use rig_core::providers::openai::OpenAIConfig;
use serde_json::json;
use tracing::Instrument;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

const GPT: &str = "gpt-4.1-mini";
const BROKEN: &str = "gpt-broken";

fn request(prompt: Message) -> CompletionRequest {
    CompletionRequest::new(prompt).record_content_telemetry(true)
}

fn hello() -> CompletionRequest {
    request(Message::user("Hi there")).preamble("You are a helpful assistant.")
}

fn weather(prompt: Message) -> Result<CompletionRequest, Box<dyn Error>> {
    let parameters = json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] });
    Ok(request(prompt).tool(ToolDefinition::new("get_weather".try_into()?, "The weather of a city.", parameters)))
}

async fn calls() -> Result<(), Box<dyn Error>> {
    let mut config = OpenAIConfig::new("none");
    config.base_url = format!("{}/v1", var("VENDOR_URL")?);
    let vendor = config.client();
    let model = vendor.chat(GPT);
    model.call(hello()).await?;
    model.stream(hello())?.finish().await?;
    let question = Message::user("Weather in Paris?");
    let answer = model.call(weather(question.clone())?).await?;
    let call = answer.tool_calls().next().ok_or("no call of a tool")?;
    let result = Message::tool_result(call.id.clone(), call.function.name.clone(), "18 degrees, sunny");
    let asked = answer.message().ok_or("no answer")?;
    model.call(weather(result)?.messages([question, asked])).await?;
    if vendor.chat(BROKEN).call(hello()).await.is_ok() {
        return Err("the vendor did not refuse".into());
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let headers = HashMap::from([
        ("x-api-key".to_owned(), var("WEIR_KEY")?),
        ("langsmith-project".to_owned(), var("PROJECT")?),
    ]);
    let exporter = SpanExporter::builder()
        .with_http()
        .with_endpoint(format!("{}/v1/traces", var("WEIR_URL")?))
        .with_headers(headers)
        .build()?;
    let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).build();
    // No locations in the code: they contain paths of the machine that compiled it.
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("app")).with_location(false);
    tracing_subscriber::registry().with(layer).with(LevelFilter::INFO).init();
    calls().instrument(tracing::info_span!("app")).await?;
    provider.shutdown()?;
    println!("rig-core 0.44.0, opentelemetry 0.33.0");
    Ok(())
}
