import pg from "pg";

/** A connection to the service's database, for facts that the interface does not show. */
export type DatabaseConnection = {
	query: <Row>(sql: string, values?: unknown[]) => Promise<Row[]>;
	end: () => Promise<void>;
};

export async function connectDatabase(databaseUrl: string): Promise<DatabaseConnection> {
	const client = new pg.Client({ connectionString: databaseUrl, query_timeout: 30_000 });
	// A query in flight fails by itself. Without a listener, an idle connection that breaks would end the process.
	client.on("error", () => {});
	await client.connect();
	return {
		query: async <Row>(sql: string, values: unknown[] = []) =>
			(await client.query(sql, values)).rows as Row[],
		end: () => client.end(),
	};
}
