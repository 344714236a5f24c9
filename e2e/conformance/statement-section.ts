/** Statements that belong together. Each is small enough that one test can show it, and keeps its id for good. */
export type StatementSection = {
	title: string;
	statements: readonly (readonly [id: string, text: string])[];
};
