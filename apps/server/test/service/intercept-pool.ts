import type { DatabasePool } from "../../src/database/database.ts";

type Query = (statement: unknown, values?: unknown[]) => Promise<unknown>;
type Client = { query: Query };

/**
 * Wraps a pool so that something can happen between two statements of a transaction, such as during a round. Statements
 * are identified by their names, or by their text.
 */
export function interceptPool(
	pool: DatabasePool,
	{
		before = async () => {},
		after = async () => {},
	}: {
		before?: (name: string, client: Client) => Promise<void>;
		after?: (name: string, client: Client) => Promise<void>;
	},
): DatabasePool {
	return new Proxy(pool, {
		get(target, key) {
			if (key !== "connect") {
				const value = Reflect.get(target, key);
				return typeof value === "function" ? value.bind(target) : value;
			}
			return async () => {
				const client = await target.connect();
				const query = client.query.bind(client) as unknown as Query;
				return new Proxy(client, {
					get(one, name) {
						if (name !== "query") {
							const value = Reflect.get(one, name);
							return typeof value === "function" ? value.bind(one) : value;
						}
						return async (statement: unknown, values?: unknown[]) => {
							const { name: given, text } = (statement ?? {}) as { name?: string; text?: string };
							const called = given ?? text ?? String(statement);
							await before(called, { query });
							const result = await query(statement, values);
							await after(called, { query });
							return result;
						};
					},
				});
			};
		},
	});
}
