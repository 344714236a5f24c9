import { expect, test } from "vitest";
import type { PublicRequest, Route } from "./route.ts";
import { switchRoutes } from "./switch-routes.ts";

const request = {} as PublicRequest;

function route(path: string, handle: () => Promise<unknown>): Route {
	return { method: "GET", path, operation: undefined, doc: {} as Route["doc"], handle };
}

function ask([first]: readonly Route[]): Promise<unknown> {
	if (first?.operation !== undefined || !first) throw new Error("there is no public route");
	return first.handle(request);
}

test("a request in flight is answered by the handler it began with, later ones by the next, and the switch waits for the former", async () => {
	const gate = Promise.withResolvers<string>();
	const { routes, switchTo } = switchRoutes([route("/a", () => gate.promise)]);
	const early = ask(routes);
	let isOver = false;
	const switched = switchTo([route("/a", async () => "new")]).then(() => {
		isOver = true;
	});
	expect(await ask(routes)).toBe("new");
	expect(isOver).toBe(false);
	gate.resolve("old");
	expect(await early).toBe("old");
	await switched;
});

test("a request that fails ends like any other, and a switch without requests in flight is over at once", async () => {
	const { routes, switchTo } = switchRoutes([route("/a", () => Promise.reject(new Error("refused")))]);
	await expect(ask(routes)).rejects.toThrow("refused");
	await switchTo([route("/a", async () => 1)]);
	await switchTo([route("/a", async () => 2)]);
	expect(await ask(routes)).toBe(2);
});

test("a switch to routes that lack an endpoint is refused and changes nothing", async () => {
	const { routes, switchTo } = switchRoutes([route("/a", async () => "first")]);
	expect(() => switchTo([route("/b", async () => "second")])).toThrow("no handler for GET /a");
	expect(await ask(routes)).toBe("first");
});
