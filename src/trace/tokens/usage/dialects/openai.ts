import type { UsageDialect } from './dialect.ts'

/** OpenAI's APIs. Most other vendors use the names of its chat completions. */
export const OPENAI_USAGE: UsageDialect = {
  name: 'openai',
  source: 'openai@7.59.0',
  providers: /^(?:openai|azure)/,
  rows: {
    '{prompt,input}_tokens': 'input',
    '{completion,output}_tokens': 'output',
    total_tokens: 'total',
    '{prompt,input}_token{s,}_details.cached_tokens': 'input.cache_read',
    '{prompt,input}_token{s,}_details.cache_write_tokens': 'input.cache_creation',
    '{prompt,input}_token{s,}_details.cache_write_tokens_details.ttl_{30m,12h,5m,1h}_tokens':
      'input.ephemeral_$3_input_tokens',
    '{prompt,input}_token{s,}_details.{text,audio,image,video}_tokens': 'input.$3',
    '{prompt,input}_token{s,}_details.cached_tokens_details.{text,audio,image,video}_tokens':
      'input.cache_read_$3',
    '{prompt,input}_token{s,}_details.cached_tokens_details.cached_{text,audio,image}_tokens':
      'input.cache_read_$3',
    '{completion,output}_token{s,}_details.reasoning_tokens': 'output.reasoning',
    '{completion,output}_token{s,}_details.{text,audio,image,video}_tokens': 'output.$3',
    '{completion,output}_token{s,}_details.{accepted,rejected}_prediction_tokens': 'output.$3_prediction',
    seconds: 'unit.audio_seconds',
    '{active,paused}_seconds': 'ignored',
    service_tier: 'condition.service_tier',
    'request_usage_entries.[].*': 'ignored',
    'request_usage_entries.[].*.*': 'ignored',
    requests: 'ignored',
    native_usage: 'nested',
  },
}

/** Vendors that answer like OpenAI's chat completions and add names of their own. */
export const OPENAI_LIKE: UsageDialect = {
  name: 'openai-like',
  source:
    'together, fireworks-ai, ai21, writer-sdk@2.3.2, cerebras-cloud-sdk@1.91.0, groq-sdk@1.6.0, zai-sdk@0.2.3, databricks',
  extends: OPENAI_USAGE,
  rows: {
    cached_tokens: 'input.cache_read',
    cached_prompt_tokens: 'input.cache_read',
    cache_read_input_tokens: 'input.cache_read',
    'cache_{creation,write}_input_tokens': 'input.cache_creation',
    image_tokens: 'input.image',
    reasoning_tokens: 'output.reasoning',
    '{accepted,rejected}_prediction_tokens': 'output.$1_prediction',
    prompt_cache_hit_tokens: 'input.cache_read',
    prompt_cache_miss_tokens: 'ignored',
    total_characters: 'unit.input_characters',
    successful_requests: 'ignored',
    '{dram,sram}_cached_tokens': 'ignored',
    num_sources_used: 'unit.sources',
  },
}
