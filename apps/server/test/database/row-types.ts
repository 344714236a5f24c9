import type { Database } from "../../src/database/database.ts";

/** The TypeScript type of each PostgreSQL type, as node-postgres returns it with the parsers of `database.ts`. */
export const typeOf: Readonly<Record<string, string>> = {
	bool: "boolean",
	bytea: "Buffer",
	float8: "number",
	int2: "number",
	int4: "number",
	int8: "number",
	json: "unknown",
	jsonb: "unknown",
	name: "string",
	numeric: "bigint",
	text: "string",
	timestamptz: "Date",
	uuid: "string",
	_bytea: "Buffer[]",
	_float8: "number[]",
	_int8: "string[]",
	_text: "string[]",
	_uuid: "string[]",
};

type Column = { table: string; column: string; type: string; is_null: boolean; check: string | null };

/** Returns the source of `rows.ts`, from the schema of a migrated database. */
export async function rowTypes(db: Database): Promise<string> {
	const { rows } = await db.query<Column>(
		`select t.relname as table, a.attname as column, typname as type, not attnotnull as is_null,
			pg_get_constraintdef(c.oid) as check
		from pg_class t join pg_attribute a on attrelid = t.oid join pg_type on pg_type.oid = atttypid
			left join pg_constraint c on contype = 'c' and conrelid = t.oid and conkey = array[attnum]
				and pg_get_constraintdef(c.oid) like '%= ANY (ARRAY[''%'
		where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
			and attnum > 0 and not attisdropped
		order by t.relname, attnum`,
	);
	const tables = Map.groupBy(rows, ({ table }) => table);
	return `// Written by \`pnpm generate\` from the migrated schema.
import type { SwapUuid } from "@geoswap/protocol";

/** The columns of each table, as node-postgres returns them. */
type Tables = {
${[...tables].map(([table, columns]) => `\t${table}: {\n${columns.map(property).join("")}\t};\n`).join("")}};

/** A row with some columns of a table. */
export type Row<Table extends keyof Tables, Column extends keyof Tables[Table]> = Pick<Tables[Table], Column>;

/** The names in a list like "id, status". */
export type Named<List extends string> = List extends \`\${infer A}, \${infer B}\` ? A | Named<B> : List;
`;
}

function property({ table, column, type, is_null, check }: Column): string {
	const isSwap = column === "swap_id" || (table === "swaps" && column === "id");
	const values = check?.match(/'[^']*'/g)?.map((value) => JSON.stringify(value.slice(1, -1)));
	const name = isSwap ? "SwapUuid" : (values?.join(" | ") ?? typeOf[type]);
	if (name === undefined) throw new Error(`${table}.${column}: no TypeScript type is named for ${type}`);
	const members = [name, ...(is_null && name !== "unknown" ? ["null"] : [])].join(" | ");
	const line = `\t\t${column}: ${members};`;
	// As the formatter breaks it. A tab counts as two characters.
	const isLong = line.length + 2 > 110;
	return isLong ? `\t\t${column}:\n\t\t\t| ${members.replaceAll(" | ", "\n\t\t\t| ")};\n` : `${line}\n`;
}
