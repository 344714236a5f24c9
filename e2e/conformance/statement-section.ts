/** Related statements. Each is small enough that one test can show it, and its id never changes. */
export type StatementSection = {
	title: string;
	statements: readonly (readonly [id: string, text: string])[];
};
