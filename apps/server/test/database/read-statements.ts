import { join, relative } from "node:path";
import * as ast from "typescript/unstable/ast";
import { API, type Checker, SymbolFlags, type Type, TypeFlags } from "typescript/unstable/sync";
import { namedParameters } from "../../src/database/named-parameters.ts";

/** A call of `query` in the source. */
export type Statement = {
	/** Its file and line. */
	place: string;
	/** The name by which it is prepared, if any. */
	name: string | undefined;
	/** The texts that it can have, or undefined if the source is not understood. */
	texts: string[] | undefined;
	/** The columns of the row type that the call states, each with its types. Undefined if it states none. */
	columns: Map<string, Type[]> | undefined;
};

/** The values of parameters, by the ids of their symbols. */
type Scope = ReadonlyMap<number, unknown[]>;
type Callable = ast.FunctionDeclaration | ast.ArrowFunction;

const folder = join(import.meta.dirname, "../../src");

/** Returns the statements in the server's source, and the checker that resolves their types. */
export async function readStatements() {
	const api = new API({ cwd: folder });
	const openProjects = [join(import.meta.dirname, "statements.tsconfig.json")];
	const [project] = api.updateSnapshot({ openProjects }).getProjects();
	if (!project) throw new Error("TypeScript has opened no project");
	const { checker, program } = project;
	const statements: Statement[] = [];
	for (const path of program.getSourceFileNames()) {
		if (!path.startsWith(`${folder}/`)) continue;
		const file = program.getSourceFile(path);
		for (const call of file ? callsIn(file) : []) {
			const [argument] = call.arguments;
			const isQuery =
				ast.isPropertyAccessExpression(call.expression) && call.expression.name.text === "query";
			if (!isQuery || !argument) continue;
			const [row] = call.typeArguments ?? [];
			const configs = (await evaluate(argument)).map((value) => (isObject(value) ? value : { text: value }));
			const texts = configs.map(({ text }) => text);
			statements.push({
				place: `${relative(folder, path)}:${(file?.getLineAndCharacterOfPosition(call.getStart()).line ?? 0) + 1}`,
				name: configs[0]?.name as string | undefined,
				texts: texts.every((text) => typeof text === "string") ? texts : undefined,
				columns: row && columnsOf(checker, checker.getTypeFromTypeNode(row)),
			});
		}
	}
	return { statements, program, checker, close: () => api.close() };

	/** Returns the values that an expression can have. Undefined stands for a value that is not understood. */
	async function evaluate(node: ast.Node, scope: Scope = new Map()): Promise<unknown[]> {
		if (ast.isStringLiteral(node) || ast.isNoSubstitutionTemplateLiteral(node)) return [node.text];
		if (ast.isNumericLiteral(node)) return [Number(node.text)];
		if (ast.isConditionalExpression(node)) {
			return [...(await evaluate(node.whenTrue, scope)), ...(await evaluate(node.whenFalse, scope))];
		}
		if (ast.isTemplateExpression(node)) {
			const parts = await Promise.all(
				node.templateSpans.map(({ expression }) => evaluatePart(expression, scope)),
			);
			return combinations(parts).map((values) =>
				values.includes(undefined)
					? undefined
					: values.reduce(
							(text, value, i) => `${text}${value}${node.templateSpans[i]?.literal.text}`,
							node.head.text,
						),
			);
		}
		if (ast.isObjectLiteralExpression(node)) {
			const parts = await Promise.all(
				node.properties.map(async (property) => {
					if (ast.isSpreadAssignment(property)) return evaluate(property.expression, scope);
					const value = ast.isPropertyAssignment(property) ? property.initializer : property.name;
					const values = value ? await evaluate(value, scope) : [];
					return values.map((one) => ({ [property.name?.getText() ?? ""]: one }));
				}),
			);
			return combinations(parts).map((objects) => Object.assign({}, ...objects));
		}
		if (ast.isCallExpression(node)) return valuesOfCall(node, scope);
		if (ast.isIdentifier(node)) return valuesOfName(node, scope);
		return [undefined];
	}

	/** Returns the values that a part of a template can have. Any number will do, because the statement is the same. */
	async function evaluatePart(node: ast.Node, scope: Scope): Promise<unknown[]> {
		const values = await evaluate(node, scope);
		if (!values.includes(undefined)) return values;
		const isNumber =
			(checker.getTypeAtLocation(node)?.flags ?? 0) & (TypeFlags.NumberLike | TypeFlags.BigIntLike);
		return isNumber ? [1] : values;
	}

	async function valuesOfName(node: ast.Node, scope: Scope): Promise<unknown[]> {
		const { id, declaration } = declarationOf(node);
		const bound = scope.get(id);
		if (bound) return bound;
		if (!declaration) return [undefined];
		if (ast.isVariableDeclaration(declaration) && ast.isIdentifier(declaration.name)) {
			const values = declaration.initializer ? await evaluate(declaration.initializer, scope) : [undefined];
			return values.includes(undefined) ? [await exportOf(declaration, declaration.name.text)] : values;
		}
		// The values of a parameter are those of the calls of its function in the same file.
		const owner = parameterOf(declaration)?.parent;
		if (!owner || !ast.isFunctionDeclaration(owner) || !owner.name) return [undefined];
		const callers = callsIn(owner.getSourceFile()).filter(
			(call) => ast.isIdentifier(call.expression) && call.expression.text === owner.name?.text,
		);
		const scopes = await Promise.all(callers.map((call) => bind(owner, call, new Map())));
		return scopes.flatMap((each) => each.get(id) ?? [undefined]);
	}

	async function valuesOfCall(node: ast.CallExpression, scope: Scope): Promise<unknown[]> {
		const name = node.expression.getText();
		if (name === "namedParameters") return numberedStatements(node, scope);
		const given = await Promise.all(node.arguments.map((argument) => evaluate(argument, scope)));
		if (name === "String") return given[0] ?? [];
		const { declaration } = declarationOf(node.expression);
		const isConst = declaration && ast.isVariableDeclaration(declaration);
		const callable = isConst ? declaration.initializer : declaration;
		if (!callable || !(ast.isFunctionDeclaration(callable) || ast.isArrowFunction(callable))) {
			return [undefined];
		}
		const exported = await exportOf(callable, name);
		if (typeof exported === "function" && given.flat().every(isKnown)) {
			return combinations(given).map((args) => exported(...args));
		}
		const inner = await bind(callable, node, scope);
		const results = returned(callable.body as ast.Node);
		return (await Promise.all(results.map((result) => evaluate(result, inner)))).flat();
	}

	/**
	 * Returns the statements of a call of `namedParameters`. Throws if a text does not use all the values, or uses a name
	 * that is none. A value that is optional by its type belongs to only some of the texts.
	 */
	async function numberedStatements(
		{ arguments: [text, values] }: ast.CallExpression,
		scope: Scope,
	): Promise<unknown[]> {
		const texts = text ? await evaluate(text, scope) : [];
		const type = values && checker.getTypeAtLocation(values);
		const properties = type ? checker.getPropertiesOfType(type) : [];
		return texts.map((one) => {
			if (typeof one !== "string") return undefined;
			const given = properties.filter(
				({ name, flags }) => !(flags & SymbolFlags.Optional) || new RegExp(`\\$${name}\\b`).test(one),
			);
			return namedParameters(one, Object.fromEntries(given.map(({ name }) => [name, undefined])));
		});
	}

	/** Returns the values of a function's parameters in a call. */
	async function bind(callable: Callable, call: ast.CallExpression, scope: Scope): Promise<Scope> {
		const inner = new Map(scope);
		for (const [i, { name }] of callable.parameters.entries()) {
			const argument = call.arguments[i];
			const values = argument ? await evaluate(argument, scope) : [undefined];
			if (ast.isIdentifier(name)) inner.set(declarationOf(name).id, values);
			for (const element of ast.isObjectBindingPattern(name) ? name.elements : []) {
				const field = element.name?.getText() ?? "";
				const its = values.map((value) => (isObject(value) ? value[field] : undefined));
				if (element.name) inner.set(declarationOf(element.name).id, its);
			}
		}
		return inner;
	}

	function declarationOf(name: ast.Node): { id: number; declaration: ast.Node | undefined } {
		const symbol = checker.getSymbolAtLocation(name);
		const isImport = symbol?.declarations.some(({ kind }) => kind === ast.SyntaxKind.ImportSpecifier);
		const target = symbol && isImport ? checker.getAliasedSymbol(symbol) : symbol;
		return { id: target?.id ?? -1, declaration: target?.valueDeclaration?.resolve() };
	}
}

/** Returns the columns of a row type, each with the types that it has in the members of a union. */
function columnsOf(checker: Checker, type: Type | undefined): Map<string, Type[]> {
	const columns = new Map<string, Type[]>();
	for (const member of type?.isUnionType() ? type.getTypes() : type ? [type] : []) {
		for (const property of checker.getPropertiesOfType(member)) {
			const its = checker.getTypeOfSymbol(property);
			if (its) columns.set(property.name, [...(columns.get(property.name) ?? []), its]);
		}
	}
	return columns;
}

/** Returns what the module of a declaration exports by a name. */
async function exportOf(declaration: ast.Node, name: string): Promise<unknown> {
	const { fileName } = declaration.getSourceFile();
	return (await import(fileName))[name];
}

function callsIn(node: ast.Node): ast.CallExpression[] {
	const calls: ast.CallExpression[] = ast.isCallExpression(node) ? [node] : [];
	node.forEachChild((child) => void calls.push(...callsIn(child)));
	return calls;
}

/** Returns the expressions that the body of a function returns. */
function returned(body: ast.Node): ast.Node[] {
	if (!ast.isBlock(body)) return [body];
	const returns = body.statements.filter(ast.isReturnStatement);
	return returns.flatMap(({ expression }) => (expression ? [expression] : []));
}

function parameterOf(node: ast.Node): ast.ParameterDeclaration | undefined {
	if (ast.isParameterDeclaration(node)) return node;
	return ast.isBindingElement(node) || ast.isObjectBindingPattern(node)
		? parameterOf(node.parent)
		: undefined;
}

function combinations(parts: readonly unknown[][]): unknown[][] {
	return parts.reduce<unknown[][]>(
		(all, part) => all.flatMap((one) => part.map((value) => [...one, value])),
		[[]],
	);
}

function isKnown(value: unknown): boolean {
	return isObject(value) ? Object.values(value).every(isKnown) : value !== undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null;
}
