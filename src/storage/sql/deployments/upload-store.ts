import type { Clock } from '../../../base/clock.ts'
import type { Upload, UploadedSource, UploadStore } from '../../../deploy/stores/upload-store.ts'
import type { Database } from '../driver/database.ts'

/** Uploads in a SQL database that has been migrated. */
export function createUploadStore(database: Database, clock: Clock): UploadStore {
  return {
    async add({ object_path, deployment_id, token_hash, expires_at }) {
      await database.query(
        'INSERT INTO deployment_uploads (object_path, deployment_id, token_hash, expires_at) VALUES (?, ?, ?, ?)',
        [object_path, deployment_id, token_hash, expires_at],
      )
    },
    async take(token_hash) {
      const [upload] = await database.query<Upload>(
        `UPDATE deployment_uploads SET token_hash = NULL WHERE token_hash = ? AND expires_at > ?
         RETURNING object_path, deployment_id`,
        [token_hash, clock.now()],
      )
      return upload
    },
    async finish(object_path, { sha256, bytes }) {
      const sql = 'UPDATE deployment_uploads SET sha256 = ?, bytes = ? WHERE object_path = ?'
      await database.query(sql, [sha256, bytes, object_path])
    },
    async sweep(before) {
      const sql = 'DELETE FROM deployment_uploads WHERE sha256 IS NULL AND expires_at <= ?'
      await database.query(sql, [before])
    },
    async find(deployment_id, object_path) {
      const [source] = await database.query<UploadedSource>(
        `SELECT sha256, bytes FROM deployment_uploads
         WHERE deployment_id = ? AND object_path = ? AND sha256 IS NOT NULL`,
        [deployment_id, object_path],
      )
      return source
    },
  }
}
