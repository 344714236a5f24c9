/** A figure of the service, and that of its bare twin if it has one, measured in the same run. */
export type BenchRow = {
	/** The load during the measurement. */
	group: string;
	what: string;
	unit: string;
	service: number;
	bare?: number;
	bareIs?: string;
};

/** Makes the rows of a group. `bareIs` describes the bare twin. */
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
