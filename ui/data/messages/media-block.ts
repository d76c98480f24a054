import type { AudioBlock, FileBlock, ImageBlock, VideoBlock } from '../../api/platform.gen.ts'

/** A picture, file, sound or film of a message, as it is sent. */
export type MediaBlock = ImageBlock | FileBlock | AudioBlock | VideoBlock

/** A block that contains its bytes. */
export type ReadMedia = MediaBlock & { base64: string; mime_type: string }
