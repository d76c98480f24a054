import { type JsonObject, type JsonValue, isObject, text } from '../schema/json.ts'

/** A model name and where it was found. */
export interface ModelName {
  model: string
  source: string
}

/**
 * The model by the precedence of the interface (metadata.ls_model_name, inputs.model, inputs.model_name), then the
 * fallbacks of contract §2.6. `inputs` is the unwrapped side, so that `{args: [{model}]}` counts as inputs.model.
 */
export function findModel(
  metadata: JsonObject,
  inputs: JsonValue | undefined,
  extra: JsonObject,
  outputs: JsonValue | undefined,
  format: string | undefined,
): ModelName | undefined {
  const params = object(extra['invocation_params'])
  const lsParams = object(metadata['ls_invocation_params'])
  const ins = object(inputs)
  const outs = object(outputs)
  const places: readonly (readonly [JsonValue | undefined, string])[] = [
    [metadata['ls_model_name'], 'metadata.ls_model_name'],
    [ins['model'], 'inputs.model'],
    [ins['model_name'], 'inputs.model_name'],
    [params['model'], 'extra.invocation_params.model'],
    [params['model_name'], 'extra.invocation_params.model_name'],
    [lsParams['model'], 'metadata.ls_invocation_params.model'],
    [outs['model'], 'outputs.model'],
    [outs['model_name'], 'outputs.model_name'],
    [format, 'outputs'],
  ]
  for (const [value, source] of places) {
    const model = text(value)?.trim()
    if (model) return { model: model.slice(0, 256), source }
  }
  return undefined
}

const AZURE = new Set([
  'az.ai.openai',
  'azure.ai.openai',
  'az.ai.inference',
  'azure.ai.inference',
  'azure-openai',
  'azure_openai',
])
/** Operation names that clients append to the provider (rule N9). */
const SUFFIX =
  /\.(chat|responses|completions?|messages|embeddings?|generative-ai|image|speech|transcription)$/

/** A provider's name in lower case, without operation suffix, synonyms the corpus names resolved (D-15). */
export function normalizeProvider(raw: string): string {
  const provider = raw.trim().toLowerCase().slice(0, 128).replace(SUFFIX, '')
  return AZURE.has(provider) ? 'azure' : provider
}

function object(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {}
}
