import type { JsonObject, JsonValue } from '../../../schema/json.ts'
import type { Artifact, AgentMessage, Part, Task, TaskEvent, TaskStatus, Version } from './model.ts'

/** A task in the form of a version (rule A2A-3). */
export function taskJson(task: Task, version: Version): JsonObject {
  const { id, contextId, status, artifacts, history } = task
  return kinded('task', version, {
    id,
    contextId,
    status: statusJson(status, version),
    ...(artifacts && { artifacts: artifacts.map((artifact) => artifactJson(artifact, version)) }),
    ...(history && { history: history.map((message) => messageJson(message, version)) }),
  })
}

/** An item of a stream in the form of a version. */
export function eventJson(event: TaskEvent, version: Version): JsonObject {
  if ('task' in event) {
    const task = taskJson(event.task, version)
    return version === '0.3' ? task : { task }
  }
  const { taskId, contextId } = event
  if ('artifact' in event) {
    const artifact = artifactJson(event.artifact, version)
    const artifactUpdate = { taskId, contextId, artifact, append: false, lastChunk: true }
    return version === '0.3' ? { kind: 'artifact-update', ...artifactUpdate } : { artifactUpdate }
  }
  const statusUpdate = { taskId, contextId, status: statusJson(event.status, version) }
  if (version === '1.0') return { statusUpdate }
  return { kind: 'status-update', ...statusUpdate, final: event.final }
}

/** The state of a task as version 1.0 writes it. */
export function stateName(state: string): string {
  return `TASK_STATE_${state.replaceAll('-', '_').toUpperCase()}`
}

function kinded(kind: string, version: Version, value: JsonObject): JsonObject {
  return version === '0.3' ? { kind, ...value } : value
}

function statusJson({ state, timestamp, message }: TaskStatus, version: Version): JsonObject {
  return {
    state: version === '0.3' ? state : stateName(state),
    timestamp,
    ...(message && { message: messageJson(message, version) }),
  }
}

function messageJson(
  { messageId, contextId, taskId, role, parts }: AgentMessage,
  version: Version,
): JsonObject {
  return kinded('message', version, {
    messageId,
    contextId,
    ...(taskId !== undefined && { taskId }),
    role: version === '0.3' ? role : `ROLE_${role.toUpperCase()}`,
    parts: parts.map((part) => partJson(part, version)),
  })
}

function artifactJson({ artifactId, name, description, parts }: Artifact, version: Version): JsonObject {
  return {
    artifactId,
    name,
    ...(description !== undefined && { description }),
    parts: parts.map((part) => partJson(part, version)),
  }
}

function partJson(part: Part, version: Version): JsonValue {
  if ('text' in part) return kinded('text', version, { text: part.text })
  if ('data' in part) return kinded('data', version, { data: part.data })
  const { file, mediaType, filename } = part
  if (version === '1.0')
    return {
      ...file,
      ...(mediaType !== undefined && { mediaType }),
      ...(filename !== undefined && { filename }),
    }
  return {
    kind: 'file',
    file: {
      ...('raw' in file ? { bytes: file.raw } : { uri: file.url }),
      ...(mediaType !== undefined && { mimeType: mediaType }),
      ...(filename !== undefined && { name: filename }),
    },
  }
}
