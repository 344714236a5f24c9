import type { PublicRequest, Route, RouteRequest } from "./route.ts";

/** Routes whose handlers can be replaced while requests are in flight. */
export type SwitchableRoutes = {
	/** The routes to serve: each passes its requests to the handler that is current when they arrive. */
	routes: readonly Route[];
	/** Lets other handlers answer from now on. Resolves when the last request of those before has been answered. */
	switchTo: (next: readonly Route[]) => Promise<void>;
};

type Handle = (request: RouteRequest) => Promise<unknown>;
type Served = { handles: ReadonlyMap<string, Handle>; inFlight: number; whenIdle: () => void };

/** Throws, now or at a switch, if the lists do not have the same endpoints: all else about a route stays as it is. */
export function switchRoutes(first: readonly Route[]): SwitchableRoutes {
	let current = served(first);
	return {
		routes: first.map((route) => {
			const handle = (request: PublicRequest) => answer(nameOf(route), request as RouteRequest);
			return { ...route, handle };
		}),
		switchTo(next) {
			const before = current;
			const after = served(next);
			const missing = [...before.handles.keys()].filter((name) => !after.handles.has(name));
			if (missing.length > 0) throw new RangeError(`no handler for ${missing.join(", ")}`);
			current = after;
			const { promise, resolve } = Promise.withResolvers<void>();
			before.whenIdle = resolve;
			if (before.inFlight === 0) resolve();
			return promise;
		},
	};

	async function answer(name: string, request: RouteRequest): Promise<unknown> {
		const by = current;
		const handle = by.handles.get(name);
		if (!handle) throw new RangeError(`no handler for ${name}`);
		by.inFlight += 1;
		try {
			return await handle(request);
		} finally {
			by.inFlight -= 1;
			if (by.inFlight === 0) by.whenIdle();
		}
	}
}

function served(routes: readonly Route[]): Served {
	const handles = routes.map((route) => [nameOf(route), route.handle.bind(route) as Handle] as const);
	return { handles: new Map(handles), inFlight: 0, whenIdle: () => {} };
}

function nameOf({ method, path }: Pick<Route, "method" | "path">): string {
	return `${method} ${path}`;
}
