/** The bytes of a file that begins like a PNG, in base64. */
export const MEDIA = Buffer.concat([
  Buffer.from('89504e470d0a1a0a', 'hex'),
  Buffer.alloc(6000, 'Weir'),
]).toString('base64')
