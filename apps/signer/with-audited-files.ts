import { type AuditedFile, listAuditedFiles } from "./list-audited-files.ts";

const folders = ["apps/signer", "packages/keys", "packages/protocol"];
const startMark = "<!-- generated: files -->";
const endMark = "<!-- end of generated: files -->";

/** Returns the README with the current list of files between its marks. */
export function withAuditedFiles(readme: string): string {
	const [before, rest] = readme.split(startMark);
	const after = rest?.split(endMark)[1];
	if (before === undefined || after === undefined) throw new Error("the README has no place for the list");
	return `${before}${startMark}\n\n${describeAuditedFiles(listAuditedFiles())}\n\n${endMark}${after}`;
}

function describeAuditedFiles(files: readonly AuditedFile[]): string {
	const parts = folders.map((folder) => {
		const own = files.filter(({ path }) => path.startsWith(`${folder}/`));
		const rows = own.map(
			({ path, lines }) => `| [${path.slice(folder.length + 1)}](../../${path}) | ${lines} |`,
		);
		return { folder, count: own.length, lines: sum(own), rows };
	});
	const summary = parts.map(({ folder, count, lines }) => `| ${folder} | ${count} | ${lines} |`);
	return [
		"| Folder | Files | Lines |",
		"|---|---|---|",
		...summary,
		`| all | ${files.length} | ${sum(files)} |`,
		...parts.flatMap(({ folder, rows }) => [
			"",
			`### ${folder}`,
			"",
			"| File | Lines |",
			"|---|---|",
			...rows,
		]),
	].join("\n");
}

function sum(files: readonly AuditedFile[]): number {
	return files.reduce((total, { lines }) => total + lines, 0);
}
