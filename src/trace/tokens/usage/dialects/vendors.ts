import type { UsageDialect } from './dialect.ts'
import { OPENAI_USAGE, OPENAI_LIKE } from './openai.ts'

/** Vendors with few names besides those of OpenAI's chat completions. */

export const MISTRAL: UsageDialect = {
  name: 'mistral',
  source: '@mistralai/mistralai@2.7.0',
  extends: OPENAI_USAGE,
  providers: /^mistral/,
  rows: {
    prompt_audio_seconds: 'unit.input_audio_seconds',
    connector_tokens: '+input.tool_use',
    'connectors.web_search{,_premium}': 'unit.web_searches',
    'connectors.code_interpreter': 'unit.code_executions',
    'connectors.document_library': 'unit.storage_searches',
    'connectors.image_generation': 'unit.images',
    pages_processed: 'unit.input_document_pages',
    doc_size_bytes: 'ignored',
    num_cached_tokens: 'input.cache_read',
  },
}

/** Cohere bills `billed_units`; `tokens` are those that the model used. */
export const COHERE: UsageDialect = {
  name: 'cohere',
  source: 'cohere-ai@8.1.0',
  providers: /cohere/,
  rows: {
    'billed_units.input_tokens': 'input',
    'billed_units.output_tokens': 'output',
    'billed_units.search_units': 'unit.rerank_searches',
    'billed_units.classifications': 'unit.classifications',
    'billed_units.images': 'unit.images',
    'billed_units.image_tokens': 'input.image',
    'billed_units.text_tokens': 'input.text',
    'billed_units.pages': 'unit.input_document_pages',
    'tokens.input_tokens': '~input',
    'tokens.output_tokens': '~output',
    'tokens.image_tokens': 'ignored',
    cached_tokens: 'input.cache_read',
  },
}

export const XAI: UsageDialect = {
  name: 'xai',
  source: 'xai-sdk@1.21.0',
  extends: OPENAI_USAGE,
  providers: /^x[-_.]?ai$|^grok/,
  billsGap: true,
  rows: {
    '{completion,output}_tokens_details.reasoning_tokens': '+output.reasoning',
    reasoning_tokens: '+output.reasoning',
    'prompt_{text,image,audio}_tokens': 'input.$1',
    cached_prompt_text_tokens: 'input.cache_read',
    num_sources_used: 'unit.sources',
    'server_side_tools_used.server_side_tool_web_search': 'unit.web_searches',
    'server_side_tools_used.server_side_tool_x_search': 'unit.social_searches',
    'server_side_tools_used.server_side_tool_code_execution': 'unit.code_executions',
    'server_side_tools_used.server_side_tool_code_interpreter': 'unit.code_executions',
    'server_side_tools_used.server_side_tool_collections_search': 'unit.storage_searches',
    'server_side_tools_used.server_side_tool_file_search': 'unit.storage_searches',
    'server_side_tools_used.server_side_tool_{view_image,view_x_video,mcp,attachment_search}': 'ignored',
    num_server_side_tools_used: 'ignored',
    'server_side_tool_usage_details.web_search_calls': 'unit.web_searches',
    'server_side_tool_usage_details.x_search_calls': 'unit.social_searches',
    'server_side_tool_usage_details.code_interpreter_calls': 'unit.code_executions',
    'server_side_tool_usage_details.{file,document}_search_calls': 'unit.storage_searches',
    'server_side_tool_usage_details.mcp_calls': 'ignored',
    cost_in_usd_ticks: 'cost.ticks',
    billable_audio_seconds: 'unit.audio_seconds',
    input_text_messages: 'unit.input_text_messages',
  },
}

export const PERPLEXITY: UsageDialect = {
  name: 'perplexity',
  source: '@perplexity-ai/perplexity_ai@0.38.5',
  extends: OPENAI_USAGE,
  providers: /perplexity|pplx/,
  rows: {
    citation_tokens: '+output.citation',
    reasoning_tokens: '+output.reasoning',
    num_search_queries: 'unit.web_searches',
    search_context_size: 'condition.search_context_size',
    'cost.total_cost': 'cost.total',
    'cost.input_{tokens_,}cost': 'cost.input',
    'cost.output_{tokens_,}cost': 'cost.output',
    'cost.{citation_tokens,reasoning_tokens,search_queries,request,cache_read,cache_creation,tool_calls}_cost':
      'cost.other',
    'input_tokens_details.cache_read_input_tokens': 'input.cache_read',
    'input_tokens_details.cache_creation_input_tokens': 'input.cache_creation',
    'tool_calls_details.{search_web,web_search}.invocation': 'unit.web_searches',
    'tool_calls_details.{fetch_url,web_fetch}.invocation': 'unit.web_fetches',
  },
}

export const OPENROUTER: UsageDialect = {
  name: 'openrouter',
  source: '@openrouter/sdk@1.3.19',
  extends: OPENAI_USAGE,
  providers: /openrouter/,
  rows: {
    cost: 'cost.fee',
    is_byok: 'condition.byok',
    'cost_details.upstream_inference_cost': 'cost.upstream',
    'cost_details.upstream_inference_{prompt,input,completions,output}_cost': 'cost.other',
    'cost_details.server_tool_cost': 'cost.other',
    search_units: 'unit.rerank_searches',
    '{prompt,input}_tokens_details.file_tokens': 'input.document',
    'server_tool_use.web_search_requests': 'unit.web_searches',
    'server_tool_use_details.web_search_requests': 'unit.web_searches',
    'server_tool_use{,_details}.tool_calls_{requested,executed}': 'ignored',
    cache_read_input_tokens: '+input.cache_read',
    cache_creation_input_tokens: '+input.cache_creation',
    'cache_creation.ephemeral_{5m,1h}_input_tokens': '+input.ephemeral_$1_input_tokens',
    speed: 'condition.speed',
    iterations: 'parts',
  },
}

export const QWEN: UsageDialect = {
  name: 'qwen',
  source: 'dashscope@2.0.2',
  extends: OPENAI_USAGE,
  providers: /alibaba|dashscope|qwen|tongyi|aliyun/,
  rows: {
    '{prompt,input}_tokens_details.cache_creation_input_tokens': 'input.cache_creation',
    '{prompt,input}_tokens_details.cache_creation.ephemeral_{5m,1h}_input_tokens':
      'input.ephemeral_$2_input_tokens',
    '{image,audio,video}_tokens': 'input.$1',
    'plugins.search.count': 'unit.web_searches',
    models: 'models',
    characters: '?unit.input_characters',
    image_count: 'unit.images',
    video_count: 'ignored',
    video_duration: 'unit.output_video_seconds',
    duration: '?unit.audio_seconds',
    cached_tokens: 'input.cache_read',
    'x_details.[].*': 'ignored',
    'x_details.[].*.*': 'ignored',
  },
}

export const VOYAGE: UsageDialect = {
  name: 'voyage',
  source: 'voyageai@0.5.0',
  providers: /voyage/,
  rows: {
    total_tokens: 'total',
    text_tokens: 'input.text',
    '{image,video}_pixels': 'unit.input_pixels',
  },
}

/** Engines on the user's own machines. */
export const LOCAL: UsageDialect = {
  name: 'local',
  source: 'ollama@0.6.4, llama.cpp, vllm, @lmstudio/sdk@2.0.0, text-generation-inference',
  extends: OPENAI_LIKE,
  rows: {
    prompt_eval_count: 'input',
    eval_count: 'output',
    prompt_n: '~input',
    predicted_n: '~output',
    cache_n: '+input.cache_read',
    'draft_n{,_accepted}': 'ignored',
    tokens_evaluated: 'input',
    tokens_predicted: 'output',
    tokens_cached: 'ignored',
    prompt_tokens_count: 'input',
    predicted_tokens_count: 'output',
    total_tokens_count: 'total',
    '{total,accepted,rejected,ignored}_draft_tokens_count': 'ignored',
    num_gpu_layers: 'ignored',
    generated_tokens: 'output',
  },
}

/** Hosts of others' models, with names of their own. */
export const HOSTS: UsageDialect = {
  name: 'hosts',
  source: 'replicate, cloudflare, @ibm-cloud/watsonx-ai@1.7.16, @sap-ai-sdk@2.16.0, reka-api',
  rows: {
    input_token_count: 'input',
    output_token_count: 'output',
    '{generated,completion}_token_count': 'output',
    total_token_count: 'total',
    predict_time: 'ignored',
    image_count: 'unit.images',
    video_count: 'ignored',
  },
}

/** SDKs of .NET, whose counts end in `TokenCount`. */
export const DOTNET: UsageDialect = {
  name: 'dotnet',
  source: 'Microsoft.Extensions.AI@10, OpenAI@2 (NuGet)',
  extends: HOSTS,
  rows: {
    cached_input_token_count: 'input.cache_read',
    reasoning_token_count: 'output.reasoning',
    'input_token_details.cached_token_count': 'input.cache_read',
    '{input,output}_token_details.audio_token_count': '$1.audio',
    'output_token_details.reasoning_token_count': 'output.reasoning',
    'output_token_details.{accepted,rejected}_prediction_token_count': 'output.$1_prediction',
  },
}

/** Vendors of speech. The tokens of their own models are billed otherwise, so no row reads them. */
export const SOUND: UsageDialect = {
  name: 'sound',
  source: '@deepgram/sdk@5.13.0, elevenlabs@2.73.0, assemblyai@4.41.5, minimax',
  rows: {
    audio_duration: 'unit.input_audio_seconds',
    usage_characters: 'unit.input_characters',
    input_characters: 'unit.input_characters',
    output_characters: 'ignored',
  },
}
