"""XLSX workbooks, read as they are taken, each cell as what its type says."""

from catalog_service.exchange.tabular.xlsx.workbook import looks_like_old_workbook, looks_like_workbook, open_workbook

__all__ = ["looks_like_old_workbook", "looks_like_workbook", "open_workbook"]
