// The pages know which elements they have, and what comes with their events. Names that a worker and the page of the interface have.
interface EventTarget { [name: string]: any }
interface Event { [name: string]: any }
declare const clients: any;
declare function skipWaiting(): void;
declare function SwaggerUIBundle(options: object): void;
declare module "*/module.js";
declare module "*/tiles.js";
interface CSSRule { [name: string]: any }
interface Error { status?: number }
declare module "*/name_search.js";
declare module "*/points.js";
declare module "*/trend.js";
declare module "*/push.js";
