import type { UsageDialect } from './dialect.ts'

/** Anthropic's API, also as Bedrock, Vertex and DeepSeek serve it, and the results of its agent SDK. */
export const ANTHROPIC_USAGE: UsageDialect = {
  name: 'anthropic',
  source: '@anthropic-ai/sdk@1.14.0, @anthropic-ai/claude-agent-sdk@0.3.332',
  providers: /anthropic|claude/,
  rows: {
    input_tokens: 'input',
    output_tokens: 'output',
    total_tokens: 'total',
    cache_read_input_tokens: '+input.cache_read',
    cache_creation_input_tokens: '+input.cache_creation',
    'cache_creation.ephemeral_{5m,1h}_input_tokens': '+input.ephemeral_$1_input_tokens',
    'cache_creation_ephemeral_{5m,1h}_input_tokens': '+input.ephemeral_$1_input_tokens',
    'output_tokens_details.thinking_tokens': 'output.reasoning',
    thinking_tokens: 'output.reasoning',
    'server_tool_use.web_search_requests': 'unit.web_searches',
    'server_tool_use.web_fetch_requests': 'unit.web_fetches',
    'server_tool_use.tool_search_requests': 'unit.tool_searches',
    'server_tool_use.code_execution_requests': 'unit.code_executions',
    web_search_requests: 'unit.web_searches',
    service_tier: 'condition.service_tier',
    speed: 'condition.speed',
    inference_geo: 'condition.inference_geo',
    'fallback_credit.status.type': 'condition.fallback_credit',
    iterations: 'parts',
    cost_usd: 'cost.total',
    cost_basis: 'ignored',
  },
}

/** Spans of Claude Code, whose attributes have no prefix. */
export const CLAUDE_CODE: UsageDialect = {
  name: 'claude-code',
  source: '@anthropic-ai/claude-code',
  rows: {
    input_tokens: 'input',
    output_tokens: 'output',
    cache_read_tokens: '+input.cache_read',
    cache_creation_tokens: '+input.cache_creation',
    speed: 'condition.speed',
  },
}
