import type pg from "pg";

/** Prepares a statement, without running it, and returns the columns of its rows. */
export function describeStatement(client: pg.ClientBase, text: string): Promise<pg.FieldDef[]> {
	return new Promise((resolve, reject) => {
		let fields: pg.FieldDef[] = [];
		const submittable = {
			submit: (connection: pg.Connection) => {
				connection.parse({ name: "", text, types: [] }, true);
				connection.describe({ type: "S", name: "" }, true);
				connection.sync();
			},
			handleRowDescription: (message: { fields: pg.FieldDef[] }) => {
				fields = message.fields;
			},
			handleReadyForQuery: () => resolve(fields),
			handleError: reject,
		};
		client.query(submittable);
	});
}
