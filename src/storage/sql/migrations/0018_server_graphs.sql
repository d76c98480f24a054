-- JSON list: the graphs of a server, each as `deployment/graph`. Empty for servers of an older release.
ALTER TABLE servers ADD COLUMN graphs TEXT NOT NULL DEFAULT '[]';
