import { parseSync } from "vite";

/** A test as named in its source. */
export type NamedTest = {
	/** The titles of the enclosing blocks and of the test, without the statement ids at the end. */
	title: string;
	/** Ids of the statements that the test shows. */
	ids: string[];
};

type Node = { type: string; [field: string]: unknown };

const runners = ["test", "it"];
const rows = ["each", "for"];
const idPattern = /\b(?:I\d[\d.]*|D-[a-z]+(?:-[a-z]+)*)-\d+\b/g;
const idsAtEnd = new RegExp(`^(.*\\S) \\[(${idPattern.source}(?:, ${idPattern.source})*)\\]$`, "s");

/**
 * Returns the tests of a source by their titles, read from its syntax, because text in comments or other strings is no
 * title. Throws if a test is not run as written, since then it shows nothing.
 */
export function readTests(source: string, { path }: { path: string }): NamedTest[] {
	const { program, errors } = parseSync(path, source);
	if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`);
	const found: NamedTest[] = [];
	visit(program, []);
	return found;

	function visit(value: unknown, blocks: readonly string[]): void {
		if (Array.isArray(value)) {
			for (const item of value) visit(item, blocks);
			return;
		}
		if (!isNode(value)) return;
		const call = value.type === "CallExpression" ? runnerCall(value) : undefined;
		const title = call && textOf((value.arguments as unknown[])[0]);
		if (call && title !== undefined) {
			const { ids } = split(title);
			refuseUnrun(call, { title, ids });
			if (call.runner === "describe") {
				if (title.match(idPattern))
					throw new Error(`${path}: ids belong to tests, not to blocks: "${title}"`);
				for (const argument of value.arguments as unknown[]) visit(argument, [...blocks, title]);
				return;
			}
			if (ids.length > 0 && callsSkip(value.arguments)) {
				throw new Error(`${path}: a test that calls skip() does not always run: "${title}"`);
			}
			found.push({ title: [...blocks, split(title).title].join(" › "), ids });
		}
		for (const field of Object.values(value)) visit(field, blocks);
	}

	function split(title: string): NamedTest {
		const [, bare = title, list] = title.match(idsAtEnd) ?? [];
		if (bare.match(idPattern))
			throw new Error(`${path}: ids must be at the end of the title, as [I1-1, I1-2]: "${title}"`);
		return { title: bare, ids: list?.split(", ") ?? [] };
	}

	function refuseUnrun({ modifiers }: RunnerCall, { title, ids }: NamedTest): void {
		const never = modifiers.filter((name) => ["skip", "todo", "only", "fails"].includes(name));
		// A test that runs only under a condition may stay, but no statement may rely on it.
		const sometimes = ids.length > 0 ? modifiers.filter((name) => ["skipIf", "runIf"].includes(name)) : [];
		const [modifier] = [...never, ...sometimes];
		if (modifier) throw new Error(`${path}: a test with .${modifier} does not always run: "${title}"`);
	}
}

/** Returns true if `skip()` of a test's context is called anywhere in here. */
function callsSkip(value: unknown): boolean {
	if (Array.isArray(value)) return value.some(callsSkip);
	if (!isNode(value)) return false;
	if (value.type === "CallExpression" && isNode(value.callee)) {
		const { callee } = value;
		const name = callee.type === "MemberExpression" && isNode(callee.property) ? callee.property : callee;
		if (name.type === "Identifier" && name.name === "skip") return true;
	}
	return Object.values(value).some(callsSkip);
}

type RunnerCall = { runner: string; modifiers: string[] };

/**
 * Returns the runner if this is the call that gives a test its title: `test("…")`, `test.concurrent.for(rows)("…")`.
 */
function runnerCall({ callee }: Node): RunnerCall | undefined {
	if (!isNode(callee)) return undefined;
	if (callee.type !== "CallExpression") return chainOf(callee);
	const chain = isNode(callee.callee) ? chainOf(callee.callee) : undefined;
	const takesRows = [...rows, "skipIf", "runIf"].includes(chain?.modifiers.at(-1) ?? "");
	return takesRows ? chain : undefined;
}

function chainOf(node: Node): RunnerCall | undefined {
	if (node.type === "Identifier") {
		const name = String(node.name);
		return [...runners, "describe"].includes(name) ? { runner: name, modifiers: [] } : undefined;
	}
	if (node.type !== "MemberExpression" || !isNode(node.object) || !isNode(node.property)) return undefined;
	const chain = chainOf(node.object);
	return chain && { ...chain, modifiers: [...chain.modifiers, String(node.property.name)] };
}

/** Returns the text of a literal, or of a template without substitutions. */
function textOf(node: unknown): string | undefined {
	if (!isNode(node)) return undefined;
	if (node.type === "Literal" && typeof node.value === "string") return node.value;
	if (node.type !== "TemplateLiteral") return undefined;
	const quasis = node.quasis as { value: { cooked: string } }[];
	return quasis.length === 1 ? quasis[0]?.value.cooked : undefined;
}

function isNode(value: unknown): value is Node {
	return typeof value === "object" && value !== null && typeof (value as Node).type === "string";
}
