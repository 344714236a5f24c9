import { createRequire } from "node:module";
import pg from "pg";

/**
 * A connection that saves round trips. A statement whose result is unused is sent together with the next one, in one
 * message. Socket traffic is most of a simulated world's cost.
 */
export type SimConnection = {
	run: (text: string, values?: readonly unknown[]) => Promise<pg.QueryResult>;
	/**
	 * Queues a statement that is sent before the next one. It must not be able to fail, because its result is not
	 * reported. `isOnce` means that its text does not come again.
	 */
	later: (text: string, options?: { isOnce?: boolean }) => void;
	/** Sends the queued statements. */
	flush: () => Promise<unknown>;
	/** Runs several statements in one text. */
	script: <Row extends pg.QueryResultRow>(text: string) => Promise<pg.QueryResult<Row>>;
	end: () => Promise<void>;
};

type Serialize = {
	parse: (query: { text: string; name: string }) => Buffer;
	bind: (config: {
		statement: string;
		values: readonly unknown[];
		valueMapper: (value: unknown) => unknown;
	}) => Buffer;
	describe: (message: { type: "P" }) => Buffer;
	execute: () => Buffer;
	sync: () => Buffer;
};
type Field = { name: string; dataTypeID: number };
type Column = { name: string; parse: (text: string) => unknown };
/** A prepared statement, known to the server by a name. The server describes its columns once. */
type Prepared = { text: string; name: string; isParsed: boolean; columns: Column[]; isDescribed: boolean };
type Call = { prepared: Prepared; values: readonly unknown[] };

const require = createRequire(import.meta.url);
const { serialize } = createRequire(require.resolve("pg"))("pg-protocol") as { serialize: Serialize };
const { prepareValue } = require("pg/lib/utils") as { prepareValue: (value: unknown) => unknown };

export async function openSimConnection(config: pg.ClientConfig): Promise<SimConnection> {
	const client = new pg.Client(config);
	await client.connect();
	const known = new Map<string, Prepared>();
	let names = 0;
	let waiting: Call[] = [];

	const prepared = (text: string): Prepared => {
		let statement = known.get(text);
		if (!statement) {
			statement = { ...unnamed(text), name: `s${names++}` };
			known.set(text, statement);
		}
		return statement;
	};
	const send = (calls: readonly Call[]) =>
		new Promise<pg.QueryResult>((resolve, reject) => {
			const fail = (error: Error) => {
				// It is not worth finding out whether the server had parsed these statements by then.
				for (const { prepared: statement } of calls) known.delete(statement.text);
				reject(error);
			};
			client.query(new Batch(calls, resolve, fail) as unknown as pg.Submittable);
		});
	const take = (): Call[] => {
		const calls = waiting;
		waiting = [];
		return calls;
	};
	const flush = async () => {
		const calls = take();
		if (calls.length > 0) await send(calls);
	};

	return {
		run: (text, values = []) => send([...take(), { prepared: prepared(text), values }]),
		later: (text, { isOnce = false } = {}) => {
			waiting.push({ prepared: isOnce ? unnamed(text) : prepared(text), values: [] });
		},
		flush,
		script: async (text) => {
			await flush();
			return client.query(text);
		},
		end: async () => {
			await flush();
			await client.end();
		},
	};
}

function unnamed(text: string): Prepared {
	return { text, name: "", isParsed: false, columns: [], isDescribed: false };
}

/** Statements that go in one message. The result is that of the last one. */
class Batch {
	private readonly calls: readonly Call[];
	private readonly resolve: (result: pg.QueryResult) => void;
	private readonly fail: (error: Error) => void;
	private readonly last: Prepared;
	private readonly rows: Record<string, unknown>[] = [];
	private left: number;
	private tag = "";
	private hasFailed = false;

	constructor(
		calls: readonly Call[],
		resolve: (result: pg.QueryResult) => void,
		fail: (error: Error) => void,
	) {
		this.calls = calls;
		this.resolve = resolve;
		this.fail = fail;
		this.last = (calls.at(-1) as Call).prepared;
		this.left = calls.length;
	}

	submit(connection: { stream: { write: (bytes: Buffer) => void } }): Error | null {
		const parts: Buffer[] = [];
		try {
			for (const { prepared, values } of this.calls) {
				const { text, name } = prepared;
				if (!prepared.isParsed) parts.push(serialize.parse({ text, name }));
				prepared.isParsed = true;
				parts.push(serialize.bind({ statement: name, values, valueMapper: prepareValue }));
				if (prepared === this.last && !prepared.isDescribed) parts.push(serialize.describe({ type: "P" }));
				parts.push(serialize.execute());
			}
		} catch (error) {
			return error as Error;
		}
		parts.push(serialize.sync());
		connection.stream.write(Buffer.concat(parts));
		return null;
	}

	handleRowDescription({ fields }: { fields: Field[] }): void {
		this.last.columns = fields.map(({ name, dataTypeID }) => ({
			name,
			parse: pg.types.getTypeParser(dataTypeID, "text") as Column["parse"],
		}));
	}

	handleDataRow({ fields }: { fields: (string | null)[] }): void {
		if (this.left > 1) return;
		const { columns } = this.last;
		const row: Record<string, unknown> = {};
		for (let i = 0; i < columns.length; i++) {
			const { name, parse } = columns[i] as Column;
			const value = fields[i] as string | null;
			row[name] = value === null ? null : parse(value);
		}
		this.rows.push(row);
	}

	handleCommandComplete({ text }: { text: string }): void {
		this.left--;
		this.tag = text;
	}

	handleEmptyQuery(): void {
		this.left--;
	}

	handleError(error: Error): void {
		this.hasFailed = true;
		this.fail(error);
	}

	handleReadyForQuery(): void {
		if (this.hasFailed) return;
		this.last.isDescribed = true;
		const [command = "", ...numbers] = this.tag.split(" ");
		const count = numbers.at(-1);
		const rowCount = count === undefined ? null : Number(count);
		this.resolve({ rows: this.rows, rowCount, command, oid: 0, fields: [] });
	}
}
