/** A figure of the service, and its bare twin's where it has one, measured in the same run. */
export type BenchRow = {
	/** What was going on meanwhile. */
	group: string;
	what: string;
	unit: string;
	service: number;
	bare?: number;
	bareIs?: string;
};

/** Makes the rows of a group. `bareIs` says what the bare figures are of. */
export function benchRow(
	group: string,
	bareIs = "",
): (what: string, unit: string, service: number, bare?: number) => BenchRow {
	return (what, unit, service, bare) => ({
		group,
		what,
		unit,
		service,
		...(bare !== undefined && { bare, bareIs }),
	});
}
