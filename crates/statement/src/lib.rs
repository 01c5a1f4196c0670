//! The intraday statement exchange: request, response, errors, cursors, paging and entry de-duplication
