/** Returns a row with undefined where the database has null. */
export function definedRow<Row extends object>(row: Row): Row {
	return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? undefined])) as Row;
}
