-- JSON: fingerprints of settings that must be the same on all servers, by their names.
ALTER TABLE servers ADD COLUMN settings TEXT NOT NULL DEFAULT '{}';
