import { join } from "node:path";
import type pg from "pg";
import * as ast from "typescript/unstable/ast";
import type { Checker, Program, Type, TypeReference } from "typescript/unstable/sync";
import { describeStatement } from "./describe-statement.ts";
import type { Statement } from "./read-statements.ts";
import { typeOf } from "./row-types.ts";

type Project = { program: Program; checker: Checker };

/**
 * Returns a function that prepares a text of a statement and returns the errors of its row type, which are columns that
 * the text does not return, or whose values the type does not allow. The type may be narrower than text or JSON. A
 * column of a table has its type in `rows.ts`. Whether a computed column can be null is not known.
 */
export async function createRowErrors(client: pg.ClientBase, { program, checker }: Project) {
	const rows = program.getSourceFile(join(import.meta.dirname, "../../src/database/rows.ts"));
	const alias = rows?.statements
		.filter(ast.isTypeAliasDeclaration)
		.find(({ name }) => name.text === "Tables");
	const tables = alias && checker.getTypeFromTypeNode(alias.type);
	const { rows: attributes } = await client.query<{ id: string; table: string; column: string }>(
		`select attrelid || '.' || attnum as id, relname as table, attname as column
		from pg_attribute join pg_class on pg_class.oid = attrelid where relnamespace = 'public'::regnamespace`,
	);
	const columnById = new Map(attributes.map((attribute) => [attribute.id, attribute]));
	const { rows: typeNames } = await client.query<{ oid: number; name: string }>(
		"select oid::int, typname as name from pg_type",
	);
	const typeNameById = new Map(typeNames.map(({ oid, name }) => [oid, name]));
	return async ({ columns }: Statement, text: string): Promise<string[]> => {
		const fields = await describeStatement(client, text);
		return [...(columns ?? [])].flatMap(([name, types]) => {
			const field = fields.find((one) => one.name === name);
			if (!field) return [`${name} is not returned`];
			const typeName = typeNameById.get(field.dataTypeID) ?? "";
			const source = columnById.get(`${field.tableID}.${field.columnID}`);
			const expected = source && propertyOf(propertyOf(tables, source.table), source.column);
			const isRight = (type: Type) =>
				expected ? allows(type, expected) : fits(type, typeOf[typeName] ?? "");
			if (types.some(isRight)) return [];
			const real = expected ? checker.typeToString(expected) : typeName;
			return [`${name} is ${real}, not ${types.map((type) => checker.typeToString(type)).join(" | ")}`];
		});
	};

	function propertyOf(type: Type | undefined, name: string): Type | undefined {
		const property = type && checker.getPropertyOfType(type, name);
		return property && checker.getTypeOfSymbol(property);
	}

	/** Returns whether a type allows the values of a column. Undefined may stand for null (see `definedRow`). */
	function allows(type: Type, column: Type): boolean {
		const isIn = (value: Type, other: Type) => checker.isTypeAssignableTo(value, other);
		const value = checker.getNonNullableType(column) ?? column;
		const bare = checker.getNonNullableType(type) ?? type;
		const mayBeMissing = isIn(checker.getNullType(), type) || isIn(checker.getUndefinedType(), type);
		if (checker.typeToString(column) === "unknown") return true;
		if (isIn(checker.getNullType(), column) && !mayBeMissing) return false;
		return isIn(value, bare) || (isIn(checker.getStringType(), value) && isIn(bare, value));
	}

	/** Returns whether a type is the named one, or narrower, apart from null. */
	function fits(nullable: Type, name: string): boolean {
		const type = checker.getNonNullableType(nullable) ?? nullable;
		const simple = {
			boolean: checker.getBooleanType(),
			bigint: checker.getBigIntType(),
			number: checker.getNumberType(),
			string: checker.getStringType(),
		}[name];
		if (simple) return checker.isTypeAssignableTo(type, simple);
		if (name.endsWith("[]")) {
			const [item] = checker.isArrayType(type) ? checker.getTypeArguments(type as TypeReference) : [];
			return item !== undefined && fits(item, name.slice(0, -2));
		}
		const text = checker.typeToString(type).replace("Uint8Array", "Buffer");
		return name === "unknown" || text === name || text.startsWith(`${name}<`);
	}
}
